"""OpenML's error numbers."""

MESSAGES = {
    100: "Function not valid",
    103: "Authentication failed",
    107: "Database connection error. Usually due to high server load. Please wait and try again.",
    111: "Unknown dataset",
    181: "Unknown flow",
    271: "Unknown dataset",
    272: "No features found",
    361: "Unknown dataset",
    362: "No qualities found",
    363: "Dataset not processed yet",
    364: "Dataset processed with error",
    372: "No results",
    482: "No results",
    512: "No results",
    542: "No results",
    601: "Unknown study",
    674: "No results",
}
REASONS = {364: "Missing qualities: the file could not be parsed"}


class ApiError(Exception):
    """An answer with HTTP status 412."""

    def __init__(self, code: int, message: str = "", information: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message or MESSAGES[code]
        self.information = information or REASONS.get(code, "")
