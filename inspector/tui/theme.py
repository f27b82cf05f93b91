"""Two quiet themes; colours differ in lightness too, so that red and green are told apart."""

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
