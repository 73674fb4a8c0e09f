"""Words that options of the command line and arguments of the library share."""

from typing import Literal

Application = Literal["bulk", "interactive", "video", "voice", "transaction"]
"""Kind of application on a connection. All but video and voice are taken to run over TCP/IP."""
Switches = Literal["efci", "relative", "erica", "eprca"]
"""How the switches of a path give feedback: EFCI bits, CI and NI bits, or explicit rates by ERICA or EPRCA."""
Definition = Literal["CBR.1", "VBR.1", "VBR.2", "VBR.3", "UBR.1", "UBR.2"]
"""Conformance definition of a traffic contract (TM 4.0, 4.3)."""
Coupling = Literal["coupled", "independent", "serial"]
"""How the two buckets of a VBR contract hang together."""
