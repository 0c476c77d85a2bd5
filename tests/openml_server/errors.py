"""OpenML's error numbers."""

MESSAGES = {
    100: "Function not valid",
    102: "No authentication (Please provide API key for all requests other than HTTP GET)",
    103: "Authentication failed",
    107: "Database connection error. Usually due to high server load. Please wait and try again.",
    111: "Unknown dataset",
    151: "Unknown task",
    181: "Unknown flow",
    236: "Run not found",
    271: "Unknown dataset",
    272: "No features found",
    281: "Unknown setup",
    361: "Unknown dataset",
    362: "No qualities found",
    363: "Dataset not processed yet",
    364: "Dataset processed with error",
    372: "No results",
    482: "No results",
    500: "No results",
    512: "No results",
    517: "Problem with the study filter. The study should exists, be run-based and non-legacy",
    542: "No results",
    547: 'Per fold can only be set to value "true" or "false".',
    548: "Per fold queries are experimental and require a fair amount of filters on resulting run records",
    549: 'If set, sort should be set to either "asc" or "desc"',
    555: "Problem with the study filter. The study should exists, be run-based and non-legacy",
    599: "No results",
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
