"""The story of a conversation, as action servers hear it."""

from mock_server.actions.story import LONGEST, Story
from mock_server.dialogue.events import Event, Listened, SlotSet, SlotSource, UserUttered


def words(story: Story) -> list[str]:
    return [event.text for _, event in story.events if isinstance(event, UserUttered)]


def test_events_have_their_times():
    story = Story("c1")
    told: list[Event] = [UserUttered("hi"), SlotSet("a", 1, SlotSource.USER), Listened()]
    for seconds, event in enumerate(told):
        story.tell(event, float(seconds))
    assert [*story.events] == [(0.0, told[0]), (1.0, told[1]), (2.0, told[2])]


def test_turn_that_broke_is_taken_back():
    story = Story("c1")
    story.tell(UserUttered("one"), 0.0)
    story.begin_turn()
    story.tell(UserUttered("two"), 1.0)
    story.take_turn_back()
    assert words(story) == ["one"]


def test_long_story_forgets_its_beginning():
    story = Story("c1")
    for number in range(LONGEST + 5):
        story.tell(UserUttered(str(number)), 0.0)
    story.begin_turn()
    story.tell(UserUttered("last"), 0.0)
    assert (len(story.events), words(story)[0]) == (LONGEST + 1, "5")
    story.take_turn_back()
    assert words(story)[-1] == str(LONGEST + 4)


def test_forgotten_story_begins_anew():
    story = Story("c1")
    story.tell(UserUttered("one"), 0.0)
    story.forget()
    assert words(story) == []
