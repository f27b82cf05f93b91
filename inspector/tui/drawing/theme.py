"""Quiet themes; colours differ in lightness too, and no state is told by colour alone."""

from textual.theme import Theme

DARK = Theme(
    name="calm-dark",
    primary="#7aa2d6",
    secondary="#5b7ea8",
    accent="#8fb8c8",
    warning="#d9b25f",
    error="#e0707a",
    success="#8fc49a",
    foreground="#d4d8de",
    background="#16191e",
    surface="#16191e",
    panel="#20252c",
    dark=True,
    variables={"dim": "#8a929e", "border": "#3a424d", "border-blurred": "#3a424d"},
)
LIGHT = Theme(
    name="calm-light",
    primary="#2a5d9c",
    secondary="#4a7ab0",
    accent="#1f6a80",
    warning="#8a5a00",
    error="#b02a37",
    success="#1f6b34",
    foreground="#22262c",
    background="#f7f7f5",
    surface="#f7f7f5",
    panel="#e9e9e4",
    dark=False,
    variables={"dim": "#666b73", "border": "#c4c4bc", "border-blurred": "#c4c4bc"},
)
# Okabe and Ito's palette (2008): sky blue, bluish green, orange and vermillion stay apart for
# protanopes, deuteranopes and tritanopes.
CLEAR = Theme(
    name="clear",
    primary="#56b4e9",
    secondary="#0072b2",
    accent="#cc79a7",
    warning="#f0e442",
    error="#e67a2e",
    success="#1fb68a",
    foreground="#e4e4e4",
    background="#141414",
    surface="#141414",
    panel="#222222",
    dark=True,
    variables={"dim": "#9a9a9a", "border": "#4a4a4a", "border-blurred": "#4a4a4a"},
)
CONTRAST = Theme(
    name="contrast",
    primary="#7cc4ff",
    secondary="#7cc4ff",
    accent="#a8e6ff",
    warning="#ffe14d",
    error="#ff8a80",
    success="#7dff9b",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    dark=True,
    variables={"dim": "#d0d0d0", "border": "#9a9a9a", "border-blurred": "#9a9a9a"},
)
# Without colour: signs, names, bold text and bars carry everything.
PLAIN = Theme(
    name="plain",
    primary="#ffffff",
    secondary="#d0d0d0",
    accent="#d8d8d8",
    warning="#ececec",
    error="#ffffff",
    success="#d8d8d8",
    foreground="#d8d8d8",
    background="#101010",
    surface="#101010",
    panel="#262626",
    dark=True,
    variables={"dim": "#9a9a9a", "border": "#565656", "border-blurred": "#565656"},
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT, CLEAR, CONTRAST, PLAIN)}
