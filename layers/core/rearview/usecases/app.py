"""All verbs over one set of services: what an entrance holds."""

from __future__ import annotations

from dataclasses import dataclass

from rearview.usecases.audit import Auditor
from rearview.usecases.context import ContextBuilder
from rearview.usecases.credentials import Keyring
from rearview.usecases.edit import Editor
from rearview.usecases.enrich import Enricher
from rearview.usecases.reading import Reader
from rearview.usecases.recall import Recaller
from rearview.usecases.redrive import Redriver
from rearview.usecases.reindex import Reindexer
from rearview.usecases.replay import Replayer
from rearview.usecases.services import Services
from rearview.usecases.session_end import SessionEnder
from rearview.usecases.sessions import Sessions
from rearview.usecases.settle import Settler
from rearview.usecases.sweep import Sweeper
from rearview.usecases.touch import Touches
from rearview.usecases.trace import Tracer
from rearview.usecases.write import Writer


@dataclass(frozen=True, slots=True)
class Rearview:
    """The use cases of Rearview."""

    services: Services
    enricher: Enricher
    writer: Writer
    sessions: Sessions
    session_ender: SessionEnder
    editor: Editor
    settler: Settler
    recaller: Recaller
    reader: Reader
    context: ContextBuilder
    tracer: Tracer
    replayer: Replayer
    auditor: Auditor
    keyring: Keyring
    sweeper: Sweeper
    redriver: Redriver
    touches: Touches
    reindexer: Reindexer


def assemble(services: Services) -> Rearview:
    """The use cases, wired to each other."""
    # Loaded here, because it is needed inside transactions, where the store cannot be asked for it.
    _ = services.secret
    enricher = Enricher(services)
    writer = Writer(services, enricher)
    sessions = Sessions(services, writer)
    touches = Touches(services)
    recaller = Recaller(services, enricher, touches)
    tracer = Tracer(services)
    return Rearview(
        services=services,
        enricher=enricher,
        writer=writer,
        sessions=sessions,
        session_ender=SessionEnder(services),
        editor=Editor(services),
        settler=Settler(services),
        recaller=recaller,
        reader=Reader(services),
        context=ContextBuilder(recaller, tracer, sessions),
        tracer=tracer,
        replayer=Replayer(services, tracer),
        auditor=Auditor(services),
        keyring=Keyring(services),
        sweeper=Sweeper(services),
        redriver=Redriver(services),
        touches=touches,
        reindexer=Reindexer(services),
    )
