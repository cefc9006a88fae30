"""Recordings of runs: looked at, replayed, branched, compared, exported.

This is the façade for programs that have a recording; ``runtime.record(path)`` makes one.

* ``Recording`` reads it: the trace, what came in, what an agent was doing in any tick, and why.
* ``replay`` runs it again; ``branch`` goes on otherwise from a tick; ``compare_recordings`` says where two part.
* ``resume`` goes on with a run that died, where its recording ends.
* ``write_perfetto``, ``write_otlp`` and ``export_spans`` hand it to other tools; ``OtelExport`` and
  ``PrometheusExport`` hand them a run that is under way.
"""

from agentrt.record.branch import BranchReport, Edit, branch, load_edits, parse_edits
from agentrt.record.compare import AgentDifference, Difference, TraceDifference, compare_recordings
from agentrt.record.export import OtelExport, PerfettoWriter, export_spans, write_otlp, write_perfetto
from agentrt.record.metrics import PrometheusExport
from agentrt.record.recorder import Recorder
from agentrt.record.recording import RecordedInput, Recording
from agentrt.record.replay import Replay, ReplayReport, replay
from agentrt.record.resume import Resumption, resume
from agentrt.record.schema import Durability
from agentrt.record.spans import Span, SpanBuilder
from agentrt.record.values import Unkept
from agentrt.runtime.intake import Codec

__all__ = [
    "AgentDifference",
    "BranchReport",
    "Codec",
    "Difference",
    "Durability",
    "Edit",
    "OtelExport",
    "PerfettoWriter",
    "PrometheusExport",
    "RecordedInput",
    "Recorder",
    "Recording",
    "Replay",
    "ReplayReport",
    "Resumption",
    "Span",
    "SpanBuilder",
    "TraceDifference",
    "Unkept",
    "branch",
    "compare_recordings",
    "export_spans",
    "load_edits",
    "parse_edits",
    "replay",
    "resume",
    "write_otlp",
    "write_perfetto",
]
