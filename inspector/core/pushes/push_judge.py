"""What to make of a notification: its token, its body, its signature."""

from collections.abc import Awaitable, Callable

from inspector.core.entries import PushVerdict
from inspector.core.pushes.push_signatures import Signatures, bearer_jwt
from inspector.core.pushes.registrations import TOKEN_HEADER, Judgement, Registrations
from inspector.net.events import Outgoing, find_header


class PushJudge:
    """`fetch_keys` gets the agent's keys, from the URL given or where agents usually have them."""

    def __init__(
        self,
        registrations: Registrations,
        fetch_keys: Callable[[str | None], Awaitable[bytes | None]],
        now: Callable[[], float],
        jwks_url: str | None,
    ) -> None:
        self._jwks_url = jwks_url
        self._registrations = registrations
        self._signatures = Signatures(lambda: fetch_keys(jwks_url), now)

    async def judge(self, push: Outgoing) -> Judgement:
        token = find_header(push.headers, TOKEN_HEADER)
        judgement = self._registrations.judge(token, push.body)
        if judgement.verdict is PushVerdict.ACCEPTED:
            problem = await self._problem_of_signature(push)
            if problem:
                return Judgement(PushVerdict.FORGED, problem, judgement.registration)
        return judgement

    async def _problem_of_signature(self, push: Outgoing) -> str:
        """A JWT must hold where keys can be had; where the user named keys, it must be there."""
        is_must = self._jwks_url is not None
        token = bearer_jwt(find_header(push.headers, "Authorization"))
        if token is None:
            return "there is no JWT in Authorization" if is_must else ""
        problem = await self._signatures.problem_of(token, push.body)
        if problem is None:
            return "the agent's keys cannot be had" if is_must else ""
        return problem
