"""An advised set against the defaults, on a scenario made for it.

Two sources share a bottleneck. The first runs all the time; what it and the second do depends on the application. Where
the advised set does worse in a figure, each of its values is taken back to the default by itself, and the one whose
return helps most is named with its guideline.
"""

from .comparison import Comparison, compare
from .figures import Figure
from .file import check_writable, write_scenario
from .scenario import scenario_text
from .tuning import TunedSet, tune

__all__ = ["Comparison", "Figure", "TunedSet", "check_writable", "compare", "scenario_text", "tune", "write_scenario"]
