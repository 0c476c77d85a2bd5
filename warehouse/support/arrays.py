"""Types of arrays; docstrings give their shapes."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]
