//! Which client runs: one at a time, and at each request the seed decides which is next.

use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::random::Random;

/// More requests than any run makes that ends.
const MAX_STEPS: u64 = 20_000;

/// How long a run may take without a request before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a run is ended by force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stuck {
    /// All clients that are left wait for locks.
    Deadlock,
    /// The clients go on without end.
    Endless,
    /// A client waits for something outside of the simulation.
    Hanging,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It could make its next request.
    Ready,
    /// It waits for a lock.
    Locked,
    /// It sleeps until so many steps, or until all others have ended or wait for it.
    Asleep {
        until: u64,
    },
    Done,
}

struct Inner {
    random: Random,
    /// How likely another client is next, in percent.
    switch: u64,
    current: Option<usize>,
    stages: Vec<Stage>,
    wakers: Vec<Option<Waker>>,
    steps: u64,
    stuck: Option<Stuck>,
}

impl Inner {
    /// Wakes those whose sleep ends.
    fn wake(&mut self, ends: impl Fn(u64) -> bool) {
        for stage in &mut self.stages {
            if matches!(stage, Stage::Asleep { until } if ends(*until)) {
                *stage = Stage::Ready;
            }
        }
    }

    fn ready(&self) -> Vec<usize> {
        (0..self.stages.len()).filter(|at| self.stages[*at] == Stage::Ready).collect()
    }

    /// Lets a client sleep for a while, or until the others have ended.
    fn sleep(&mut self, client: usize) {
        let until = match self.random.chance(50) {
            true => u64::MAX,
            false => self.steps + 1 + self.random.below(80),
        };
        self.stages[client] = Stage::Asleep { until };
    }
}

/// Clients are threads, or tasks on behalf of threads that wait for them.
#[derive(Clone)]
pub(crate) struct Schedule(Arc<Shared>);

struct Shared {
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Schedule {
    pub(crate) fn new(clients: usize, switch: u64, seed: u64) -> Self {
        let inner = Inner {
            random: Random::new(seed),
            switch,
            current: None,
            stages: vec![Stage::Done; clients],
            wakers: vec![None; clients],
            steps: 0,
            stuck: None,
        };
        Self(Arc::new(Shared { inner: Mutex::new(inner), changed: Condvar::new() }))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time, which passes with each request and with each call of this.
    pub(crate) fn tick(&self) -> u64 {
        let mut inner = self.inner();
        inner.steps += 1;
        inner.steps
    }

    /// Chooses who makes the next request. Every client that waits looks whether it is chosen.
    fn choose(&self, inner: &mut Inner, from: usize) {
        inner.steps += 1;
        if inner.steps > MAX_STEPS {
            inner.stuck.get_or_insert(Stuck::Endless);
        }
        let steps = inner.steps;
        inner.wake(|until| until <= steps);
        let stays = inner.stages[from] == Stage::Ready && !inner.random.chance(inner.switch);
        if !stays {
            if inner.ready().is_empty() {
                inner.wake(|_| true);
            }
            let ready = inner.ready();
            inner.current = match ready.is_empty() {
                false => Some(inner.random.pick(&ready)),
                true => None,
            };
            if ready.is_empty() && inner.stages.contains(&Stage::Locked) {
                inner.stuck.get_or_insert(Stuck::Deadlock);
            }
        }
        if inner.stuck.is_some() {
            inner.wakers.iter_mut().filter_map(Option::take).for_each(Waker::wake);
        } else if let Some(waker) = inner.current.and_then(|next| inner.wakers[next].take()) {
            waker.wake();
        }
        self.0.changed.notify_all();
    }

    fn wait(&self, mut inner: MutexGuard<'_, Inner>, client: usize) -> Result<(), Stuck> {
        loop {
            if let Some(stuck) = inner.stuck {
                return Err(stuck);
            }
            if inner.current == Some(client) {
                return Ok(());
            }
            inner = self.0.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until this client is to make its next request, before which it may sleep.
    pub(crate) fn turn(&self, client: usize, sleeps: bool) -> Result<(), Stuck> {
        let mut inner = self.inner();
        if sleeps {
            inner.sleep(client);
        }
        self.choose(&mut inner, client);
        self.wait(inner, client)
    }

    /// As [`turn`](Self::turn), for a task on behalf of the client.
    pub(crate) fn turn_async(&self, client: usize, sleeps: bool) -> Turn {
        Turn { schedule: self.clone(), client, sleeps, has_chosen: false }
    }

    /// Waits for a lock that another client holds, until it is [released](Self::release).
    pub(crate) fn wait_for_lock(&self, client: usize) -> Result<(), Stuck> {
        let mut inner = self.inner();
        inner.stages[client] = Stage::Locked;
        self.choose(&mut inner, client);
        self.wait(inner, client)
    }

    /// Lets all clients go on that wait for locks: they look again.
    pub(crate) fn release(&self) {
        for stage in &mut self.inner().stages {
            if *stage == Stage::Locked {
                *stage = Stage::Ready;
            }
        }
    }

    /// Waits until a new client is chosen for the first time.
    pub(crate) fn begin(&self, client: usize) -> Result<(), Stuck> {
        self.wait(self.inner(), client)
    }

    /// Ends a client.
    pub(crate) fn end(&self, client: usize) {
        let mut inner = self.inner();
        inner.stages[client] = Stage::Done;
        self.choose(&mut inner, client);
    }

    /// Lets a client run alone, while there are no others.
    pub(crate) fn admit(&self, client: usize) {
        let mut inner = self.inner();
        inner.stages[client] = Stage::Ready;
        inner.current = Some(client);
    }

    /// Starts so many clients, and waits until all have ended.
    pub(crate) fn run(&self, clients: usize) -> Result<(), Stuck> {
        let mut inner = self.inner();
        inner.stages[..clients].fill(Stage::Ready);
        inner.current = usize::try_from(inner.random.below(clients as u64)).ok();
        self.0.changed.notify_all();
        let mut seen = inner.steps;
        while !inner.stages.iter().all(|stage| *stage == Stage::Done) {
            let (locked, late) = self
                .0
                .changed
                .wait_timeout(inner, PATIENCE)
                .unwrap_or_else(PoisonError::into_inner);
            inner = locked;
            if late.timed_out() && seen == inner.steps {
                // Lets go whoever waits here, as others may wait for it elsewhere.
                let stuck = *inner.stuck.get_or_insert(Stuck::Hanging);
                self.0.changed.notify_all();
                return Err(stuck);
            }
            seen = inner.steps;
        }
        inner.stuck.map_or(Ok(()), Err)
    }
}

/// A task's turn.
pub(crate) struct Turn {
    schedule: Schedule,
    client: usize,
    sleeps: bool,
    has_chosen: bool,
}

impl Future for Turn {
    type Output = Result<(), Stuck>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let schedule = self.schedule.clone();
        let mut inner = schedule.inner();
        if !self.has_chosen {
            self.has_chosen = true;
            if self.sleeps {
                inner.sleep(self.client);
            }
            schedule.choose(&mut inner, self.client);
        }
        if let Some(stuck) = inner.stuck {
            return Poll::Ready(Err(stuck));
        }
        if inner.current == Some(self.client) {
            return Poll::Ready(Ok(()));
        }
        inner.wakers[self.client] = Some(context.waker().clone());
        Poll::Pending
    }
}
