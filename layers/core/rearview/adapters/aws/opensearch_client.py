"""The client of an OpenSearch domain or node, and what stands between it and the adapter: errors, patience, a breaker."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar

from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection
from opensearchpy.exceptions import (
    ConnectionError as OpenSearchConnectionError,
)
from opensearchpy.exceptions import (
    NotFoundError,
    OpenSearchException,
    RequestError,
    TransportError,
)

from rearview.errors import Unavailable

T = TypeVar("T")

_BUSY: Final = (429, 502, 503, 504)
#: They log whole requests (the second at level INFO), and no content may get into logs.
_TALKATIVE: Final = ("opensearch", "opensearchpy.trace")


def make_client(
    url: str,
    *,
    auth: Literal["sigv4", "basic", "none"] = "none",
    region: str | None = None,
    service: Literal["es", "aoss"] = "es",
    username: str | None = None,
    password: str | None = None,
    credentials: Any = None,
    seconds: float = 10.0,
    ca_certs: str | None = None,
    pool: int = 10,
) -> OpenSearch:
    """A client, safe among threads; nothing is sent yet.

    ``sigv4`` signs with ``credentials`` (botocore's; default: those of the environment) for ``region``; ``basic``
    wants ``username`` and ``password``. A request that fails to connect, times out after ``seconds`` or meets a busy
    node is sent once more. ``ca_certs``: path of a bundle for a domain with a certificate of its own.
    """
    http_auth: Any = None
    if auth == "sigv4":
        http_auth = _signer(credentials, region, service)
    elif auth == "basic":
        if not username or password is None:
            raise ValueError("basic authentication needs a username and a password")
        http_auth = (username, password)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    tls: dict[str, Any] = {"verify_certs": True, "ca_certs": ca_certs} if url.startswith("https:") else {}
    return OpenSearch(
        hosts=[url],
        http_auth=http_auth,
        connection_class=Urllib3HttpConnection,
        timeout=seconds,
        max_retries=1,
        retry_on_timeout=True,
        retry_on_status=_BUSY,
        pool_maxsize=pool,
        **tls,
    )


def _signer(credentials: Any, region: str | None, service: str) -> Urllib3AWSV4SignerAuth:
    if credentials is None or region is None:
        import boto3  # half a second that only this way in needs

        session = boto3.Session()
        credentials = credentials or session.get_credentials()
        region = region or session.region_name
    if credentials is None or region is None:
        raise ValueError("signing requests to OpenSearch needs AWS credentials and a region")
    return Urllib3AWSV4SignerAuth(credentials, region, service)


class Caller:
    """Calls the client; turns what is nobody's fault into `Unavailable`; spares an index that is away.

    After a call that could not be made, all calls fail at once for ``pause_seconds``; then one may try, and its
    success opens the way for the others. Errors about the request itself (400, 404, 409) go on to the caller.
    """

    def __init__(
        self,
        client: OpenSearch,
        pause_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._pause = pause_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._closed_until: float | None = None

    def __call__(self, work: Callable[[OpenSearch], T]) -> T:
        self._admit()
        try:
            result = work(self._client)
        except (RequestError, NotFoundError):
            self._opened()
            raise
        except TransportError as error:
            raise self._unavailable(error) from None
        except (OpenSearchException, OSError) as error:
            raise Unavailable(f"the index gave no answer that can be read: {type(error).__name__}") from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "botocore":
                raise
            raise Unavailable(f"requests to the index cannot be signed: {type(error).__name__}") from None
        self._opened()
        return result

    def _unavailable(self, error: TransportError) -> Exception:
        if isinstance(error, OpenSearchConnectionError):
            self._close()
            return Unavailable(f"the index cannot be reached: {type(error).__name__}")
        status = error.status_code
        if status in _BUSY:
            if status != 429:
                self._close()
            return Unavailable(f"the index is busy or away: {status}")
        if status == 409:
            return error
        if status in (401, 403):
            return Unavailable(
                f"the index refuses this service ({status}): look at its access policy and roles"
            )
        return Unavailable(f"the index failed: {status} {error.error}")

    def _admit(self) -> None:
        with self._lock:
            if self._closed_until is None:
                return
            now = self._monotonic()
            if now < self._closed_until:
                raise Unavailable("the index did not answer a moment ago and is not asked again yet")
            # This call is the one that tries; the others wait for how it goes.
            self._closed_until = now + self._pause

    def _close(self) -> None:
        with self._lock:
            self._closed_until = self._monotonic() + self._pause

    def _opened(self) -> None:
        if self._closed_until is not None:
            with self._lock:
                self._closed_until = None
