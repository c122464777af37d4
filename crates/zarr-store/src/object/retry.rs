//! Retries, and detecting requests with a lost response.

use std::error::Error as _;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
pub(super) use self::watch::Watch;
use object_store::Error;
use tokio::time::{Instant, sleep};

use crate::StoreOptions;
use crate::update::jitter;

/// How long there may be no response before it is reported; doubled after each report.
pub(super) const QUIET: Duration = Duration::from_secs(5);
/// The pause before the first retry, on average; doubled before each further one.
const PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// The most retries of an operation after a lost response, in addition to retries of single
/// requests by the backend.
const MAX_REPETITIONS: usize = 3;

/// How often and how long an operation is retried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    retries: usize,
    pub(super) timeout: Duration,
}

impl Limits {
    pub(super) fn new(options: &StoreOptions) -> Self {
        let (retries, timeout) = options.retry_limits();
        Self { retries, timeout }
    }
}

/// Why an operation is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The response to a request was lost.
    Lost,
    /// The server refused a request because of another one, and has changed nothing.
    Conflict,
}

impl Cause {
    /// Why an unconditional operation that failed with this error is retried, if it is.
    pub(super) fn of(error: &Error) -> Option<Self> {
        Self::of_read(error).or_else(|| is_lost(error).then_some(Self::Lost))
    }

    /// As [`of`](Self::of), for a single request that only reads: the backend has already retried it
    /// if its response was lost.
    pub(super) fn of_read(error: &Error) -> Option<Self> {
        // The backend's words for the statuses 409 (Conflict) and 412 (Precondition Failed), for
        // any request.
        matches!(error, Error::AlreadyExists { .. } | Error::Precondition { .. })
            .then_some(Self::Conflict)
    }
}

/// The attempts at one operation.
pub(super) struct Tries {
    limits: Limits,
    begun: Instant,
    made: usize,
    pause: Duration,
}

impl Tries {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, begun: Instant::now(), made: 0, pause: PAUSE }
    }

    /// The time left, but enough for one request.
    pub(super) fn time_left(&self) -> Duration {
        self.limits.timeout.saturating_sub(self.begun.elapsed()).max(QUIET)
    }

    /// Waits for the next attempt; false if there is none. Pauses are random, so that two writers do
    /// not keep colliding.
    pub(super) async fn next(&mut self, cause: Cause) -> bool {
        let most = match cause {
            Cause::Lost => self.limits.retries.min(MAX_REPETITIONS),
            Cause::Conflict => self.limits.retries,
        };
        self.made += 1;
        if self.made > most || self.begun.elapsed() > self.limits.timeout {
            return false;
        }
        sleep(jitter(self.pause)).await;
        self.pause = MAX_PAUSE.min(self.pause * 2);
        true
    }
}

/// Whether an error means that a request was sent and its response did not arrive completely.
pub(super) fn is_lost(error: &Error) -> bool {
    iter::successors(error.source(), |&cause| cause.source()).any(watch::is_lost)
}

/// Whether the server, or the backend, says that it does not know such requests.
pub(super) fn is_unsupported(error: &Error) -> bool {
    let mut causes = iter::successors(error.source(), |&cause| cause.source());
    matches!(error, Error::NotImplemented { .. } | Error::NotSupported { .. })
        || causes.any(watch::is_unsupported)
}

/// Whether the answer of the server was not one to such a request.
pub(super) fn is_wrong(error: &Error) -> bool {
    iter::successors(error.source(), |&cause| cause.source()).any(watch::is_wrong)
}

/// Whether the server described an object without its length.
pub(super) fn is_lengthless(error: &Error) -> bool {
    iter::successors(error.source(), |&cause| cause.source()).any(watch::is_lengthless)
}

/// Set once a request may have been executed although its response does not say so. It is attached
/// to the request, since a backend retries requests by itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Unanswered(Arc<AtomicBool>);

impl Unanswered {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Observes every request, and ends the retries of a request that can never succeed.
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
mod watch {
    use std::error::Error;
    use std::pin::Pin;

    use futures_util::StreamExt;
    use object_store::ClientOptions;
    use object_store::client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    };

    use super::Unanswered;
    use crate::errors::error::ANONYMOUS;
    use crate::object::answers::{Refusal, understood};
    use crate::object::connector;
    use crate::object::redirects::Redirects;

    /// Whether it is the error of a request with an incomplete response.
    pub(super) fn is_lost(error: &(dyn Error + 'static)) -> bool {
        // Without a connection, nothing was sent.
        let lost = |error: &HttpError| {
            let is_refusal = error.source().is_some_and(|source| source.is::<Refusal>());
            error.kind() != HttpErrorKind::Connect && !is_refusal
        };
        error.downcast_ref().is_some_and(lost)
    }

    /// Whether it is [`Refusal::Unsupported`].
    pub(super) fn is_unsupported(error: &(dyn Error + 'static)) -> bool {
        matches!(error.downcast_ref(), Some(Refusal::Unsupported(_)))
    }

    /// Whether it is [`Refusal::Wrong`].
    pub(super) fn is_wrong(error: &(dyn Error + 'static)) -> bool {
        matches!(error.downcast_ref(), Some(Refusal::Wrong(_)))
    }

    /// Whether it is [`Refusal::Lengthless`].
    pub(super) fn is_lengthless(error: &(dyn Error + 'static)) -> bool {
        matches!(error.downcast_ref(), Some(Refusal::Lengthless))
    }

    /// The most bytes of the body of an error that are read.
    const MOST_READ: usize = 64 << 10;
    /// The most characters of them that messages show: error codes are at the start.
    const MOST_SHOWN: usize = 300;

    /// A response that is an error, with the start of its body. If the body breaks off, the response
    /// is lost, and the backend notices this too late to repeat the request.
    async fn refusal(answer: HttpResponse, anonymous: bool) -> Result<HttpResponse, HttpError> {
        let (head, body) = answer.into_parts();
        let mut pieces = body.bytes_stream();
        let mut said = Vec::new();
        while said.len() < MOST_READ
            && let Some(piece) = pieces.next().await
        {
            let lost = |error| HttpError::new(HttpErrorKind::Interrupted, error);
            said.extend_from_slice(&piece.map_err(lost)?);
        }
        // The backend would report a body that is not UTF-8 in place of the status.
        let mut said = String::from_utf8_lossy(&said).into_owned();
        if let Some((end, _)) = said.char_indices().nth(MOST_SHOWN) {
            said.truncate(end);
            said.push('…');
        }
        if anonymous && matches!(head.status.as_u16(), 401 | 403) {
            said.push_str(&format!(" ({ANONYMOUS})"));
        }
        if head.status.as_u16() == 501 {
            return Err(Refusal::Unsupported(format!("501 Not Implemented: {said}")).into());
        }
        Ok(HttpResponse::from_parts(head, said.into()))
    }

    /// Creates clients that observe their requests.
    #[derive(Debug)]
    pub(in super::super) struct Watch {
        pub(in super::super) redirects: Redirects,
        /// Whether the requests have no credentials since a document led there.
        pub(in super::super) anonymous: bool,
    }

    impl HttpConnector for Watch {
        fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
            let client = connector::connect(options, self.redirects)?;
            Ok(HttpClient::new(Watched { client, anonymous: self.anonymous }))
        }
    }

    #[derive(Debug)]
    struct Watched {
        client: HttpClient,
        anonymous: bool,
    }

    impl HttpService for Watched {
        fn call<'a, 'b>(
            &'a self,
            request: HttpRequest,
        ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
        where
            'a: 'b,
            Self: 'b,
        {
            Box::pin(async move {
                let unanswered = request.extensions().get::<Unanswered>().cloned();
                let answer = match understood(&self.client, request).await {
                    Ok(answer) if !answer.status().is_success() => {
                        refusal(answer, self.anonymous).await
                    }
                    answer => answer,
                };
                let is_lost = match &answer {
                    // A server may execute a request and then respond with an error.
                    Ok(answer) => answer.status().is_server_error(),
                    Err(error) => is_lost(error),
                };
                if let Some(unanswered) = unanswered.filter(|_| is_lost) {
                    unanswered.set();
                }
                answer
            })
        }
    }
}

/// Without clients there are no requests to observe.
#[cfg(not(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http")))]
mod watch {
    pub(super) fn is_lost(_: &(dyn std::error::Error + 'static)) -> bool {
        false
    }

    pub(super) fn is_unsupported(_: &(dyn std::error::Error + 'static)) -> bool {
        false
    }

    pub(super) fn is_wrong(_: &(dyn std::error::Error + 'static)) -> bool {
        false
    }

    pub(super) fn is_lengthless(_: &(dyn std::error::Error + 'static)) -> bool {
        false
    }
}
