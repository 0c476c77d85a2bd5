"""Reading Arrow's own files (Feather)."""

import pyarrow as pa

from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput, one_line

ARROW_MAGIC = b"ARROW1"


def read_arrow(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> pa.Table:
    """The table in the bytes of an Arrow file, batch after batch, as long as they keep to the limits.

    Raises:
        BadInput: they are no readable Arrow file, or the table is beyond the limits.
    """
    try:
        with pa.ipc.open_file(pa.BufferReader(content)) as file:
            limits.check_columns(len(file.schema))
            batches, size = [], 0
            for place in range(file.num_record_batches):
                batches.append(file.get_batch(place))
                batches[-1].validate(full=True)  # text that is no UTF-8, above all
                size += batches[-1].get_total_buffer_size()
                limits.check_unpacked(size, len(content))
            return pa.Table.from_batches(batches, file.schema)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise UnreadableInput(f"the file is damaged Arrow ({one_line(error)[:200]})") from error
