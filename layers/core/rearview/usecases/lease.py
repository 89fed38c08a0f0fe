"""One worker per user at a time: a lease that expires, with a fencing number.

Whoever lost a lease while it worked is refused at its next write, because every write of a worker checks the fence in
its own transaction. A lease that was never given back points at a worker that died on the first pending item; that
is counted, so that an item which kills its worker cannot block its user for ever. A worker that comes back after its
lease is over was only slow (its embedding model hangs), and takes back what was counted for it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.records import Lease, Pending
from rearview.errors import LeaseLost
from rearview.ports import UnitOfWork
from rearview.usecases.services import Services

SECONDS = 20.0
#: Workers that died on one item before it is given up.
CRASHES = 10


def acquire(services: Services, partition: str) -> Lease | None:
    """The lease, or None while another live worker holds it."""
    at = keys.Key(partition, keys.LEASE)

    def work(uow: UnitOfWork) -> Lease | None:
        now = services.now()
        body = uow.get(at)
        held = None if body is None else decode(Lease, body)
        if held is not None and held.owner and held.until > now and services.alive(held.owner):
            return None
        lease = Lease(services.owner, 1 if held is None else held.fence + 1, now + timedelta(seconds=SECONDS))
        uow.put(at, encode(lease))
        if held is not None and held.owner:
            _count_crash(uow, partition)
        return lease

    return services.store.transact(partition, work, durable=False)


def _count_crash(uow: UnitOfWork, partition: str, change: int = 1) -> None:
    first = uow.query(partition, keys.PENDING, limit=1).items
    for key, body in first:
        crashes = int(body.get("crashes", 0))
        if crashes + change >= 0:
            uow.put(key, {**body, "crashes": crashes + change})


def check(uow: UnitOfWork, partition: str, lease: Lease) -> None:
    """Raises LeaseLost unless this lease is still the newest; to be called inside every transaction of a worker."""
    body = uow.get(keys.Key(partition, keys.LEASE))
    if body is None or body["fence"] != lease.fence or body["owner"] != lease.owner:
        raise LeaseLost("another worker took this user over")


def renew(services: Services, uow: UnitOfWork, partition: str, lease: Lease) -> Lease:
    """More time for the holder."""
    check(uow, partition, lease)
    longer = replace(lease, until=services.now() + timedelta(seconds=SECONDS))
    uow.put(keys.Key(partition, keys.LEASE), encode(longer))
    return longer


def release(services: Services, partition: str, lease: Lease) -> None:
    """Gives the lease back; the fence stays and goes on counting."""

    def work(uow: UnitOfWork) -> None:
        check(uow, partition, lease)
        gone = replace(lease, owner="", until=services.now())
        uow.put(keys.Key(partition, keys.LEASE), encode(gone))

    def lives(uow: UnitOfWork) -> None:
        _count_crash(uow, partition, -1)

    try:
        services.store.transact(partition, work, durable=False)
    except LeaseLost:
        services.store.transact(partition, lives, durable=False)


def gives_up(mark: Pending) -> bool:
    """Whether an item has killed enough workers."""
    return mark.crashes >= CRASHES
