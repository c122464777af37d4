//! Retries, and detecting requests whose response was lost.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
pub(super) use self::watch::Watch;
use object_store::Error;
use tokio::time::{Instant, sleep};

use crate::StoreOptions;

/// How long there may be no response before it is reported; doubled after each report.
pub(super) const QUIET: Duration = Duration::from_secs(5);
/// The pause before the first retry; doubled before each further one.
const PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// The most retries of an operation, in addition to those of single requests by the backend.
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
        Self { retries: retries.min(MAX_REPETITIONS), timeout }
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

    /// Waits for the next attempt; false if there is none.
    pub(super) async fn next(&mut self) -> bool {
        self.made += 1;
        if self.made > self.limits.retries || self.begun.elapsed() > self.limits.timeout {
            return false;
        }
        sleep(self.pause).await;
        self.pause = MAX_PAUSE.min(self.pause * 2);
        true
    }
}

/// Whether an error means that a request was sent and its response did not arrive completely.
pub(super) fn is_lost(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if watch::is_lost(error) {
            return true;
        }
        cause = error.source();
    }
    false
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

/// Observes every request.
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
mod watch {
    use std::error::Error;
    use std::pin::Pin;

    use object_store::ClientOptions;
    use object_store::client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
        HttpService, ReqwestConnector,
    };

    use super::Unanswered;

    /// Whether it is the error of a request whose response did not arrive completely.
    pub(super) fn is_lost(error: &(dyn Error + 'static)) -> bool {
        // Without a connection, nothing was sent.
        let lost = |error: &HttpError| error.kind() != HttpErrorKind::Connect;
        error.downcast_ref().is_some_and(lost)
    }

    /// Creates clients that observe their requests.
    #[derive(Debug)]
    pub(in super::super) struct Watch;

    impl HttpConnector for Watch {
        fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
            // A provider that the program has installed stays.
            let _installed = rustls::crypto::ring::default_provider().install_default();
            let client = ReqwestConnector::default().connect(options)?;
            Ok(HttpClient::new(Watched(client)))
        }
    }

    #[derive(Debug)]
    struct Watched(HttpClient);

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
                let answer = self.0.execute(request).await;
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
}
