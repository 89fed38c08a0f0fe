"""All verbs over one set of services: what an entrance holds."""

from __future__ import annotations

from dataclasses import dataclass

from rearview.usecases.audit import Auditor
from rearview.usecases.consolidation import Consolidator
from rearview.usecases.context import ContextBuilder
from rearview.usecases.credentials import Keyring
from rearview.usecases.edit import Editor
from rearview.usecases.enrich import Enricher
from rearview.usecases.forgetting import Forgetter
from rearview.usecases.graph import Grapher
from rearview.usecases.lists import Lister
from rearview.usecases.maintenance.reports import Upkeep
from rearview.usecases.maintenance.runs import Maintainer
from rearview.usecases.maintenance.task import Task
from rearview.usecases.maintenance.work import Jobs
from rearview.usecases.policies import PolicyKeeper
from rearview.usecases.profile import Profiles
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
    lister: Lister
    grapher: Grapher
    context: ContextBuilder
    profiles: Profiles
    tracer: Tracer
    replayer: Replayer
    auditor: Auditor
    keyring: Keyring
    sweeper: Sweeper
    redriver: Redriver
    touches: Touches
    reindexer: Reindexer
    forgetter: Forgetter
    policy_keeper: PolicyKeeper
    jobs: Jobs
    maintainer: Maintainer
    upkeep: Upkeep


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
    profiles = Profiles(services)
    jobs = Jobs(services, lambda: _tasks(services))
    maintainer = Maintainer(services, jobs)
    return Rearview(
        services=services,
        enricher=enricher,
        writer=writer,
        sessions=sessions,
        session_ender=SessionEnder(services),
        editor=Editor(services, Consolidator(services).after),
        settler=Settler(services),
        recaller=recaller,
        reader=Reader(services),
        lister=Lister(services),
        grapher=Grapher(services),
        context=ContextBuilder(recaller, tracer, sessions, profiles),
        profiles=profiles,
        tracer=tracer,
        replayer=Replayer(services, tracer),
        auditor=Auditor(services),
        keyring=Keyring(services),
        sweeper=Sweeper(services),
        redriver=Redriver(services),
        touches=touches,
        reindexer=Reindexer(services),
        forgetter=Forgetter(services),
        policy_keeper=PolicyKeeper(services),
        jobs=jobs,
        maintainer=maintainer,
        upkeep=Upkeep(services, maintainer),
    )


def _tasks(services: Services) -> list[Task]:
    """What upkeep consists of, in the order in which it is done."""
    from rearview.usecases.maintenance.archive import TextArchiver
    from rearview.usecases.maintenance.cold import ColdTask
    from rearview.usecases.maintenance.consolidate import ConsolidateTask
    from rearview.usecases.maintenance.forget import ForgetTask
    from rearview.usecases.maintenance.profile import ProfileTask
    from rearview.usecases.maintenance.review import ReviewTask
    from rearview.usecases.profile_upkeep import ProfileKeeper

    return [
        TextArchiver(services),
        ColdTask(services),
        ForgetTask(services),
        ConsolidateTask(services),
        ProfileTask(ProfileKeeper(services)),
        ReviewTask(services),
    ]
