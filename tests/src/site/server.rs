//! The site's HTTP server: a thread per connection, a request log, and a stop that no connection delays.

use std::{
    collections::HashMap,
    io::{self, BufReader, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::http::{Request, Response};

/// How long a connection may be silent between two requests.
const IDLE: Duration = Duration::from_mins(1);

/// How the server answers a request.
pub(crate) enum Reply {
    /// With a whole response; the connection is ready for the next request.
    Whole(Response),
    /// With bytes written by hand; the connection is closed after them.
    Bytes(Box<RawHandler>),
}

type RawHandler = dyn FnOnce(&mut Peer<'_>) -> io::Result<()>;

impl Reply {
    pub(crate) fn bytes(write: impl FnOnce(&mut Peer<'_>) -> io::Result<()> + 'static) -> Self {
        Self::Bytes(Box::new(write))
    }

    /// The same response after `delay`.
    pub(crate) fn after(delay: Duration, response: Response) -> Self {
        Self::bytes(move |peer| {
            peer.pause(delay)?;
            peer.send(&response)
        })
    }
}

impl From<Response> for Reply {
    fn from(response: Response) -> Self {
        Self::Whole(response)
    }
}

/// The handler of requests.
pub(crate) type Answer = Box<dyn Fn(&Request) -> Reply + Send + Sync>;

/// A running server; dropping it stops it.
pub(crate) struct Server {
    shared: Arc<Shared>,
    port: u16,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    answer: Answer,
    tls: Option<Arc<ServerConfig>>,
    log: Mutex<Vec<Arc<Request>>>,
    logged: Condvar,
    connections: Mutex<HashMap<u64, TcpStream>>,
    next: AtomicU64,
    stopped: Mutex<bool>,
    stopping: Condvar,
}

impl Server {
    /// Listens on a free port of the loopback interface.
    pub(crate) fn start(tls: Option<Arc<ServerConfig>>, answer: impl FnOnce(u16) -> Answer) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            answer: answer(port),
            tls,
            log: Mutex::default(),
            logged: Condvar::new(),
            connections: Mutex::default(),
            next: AtomicU64::new(0),
            stopped: Mutex::new(false),
            stopping: Condvar::new(),
        });
        let accepting = thread::Builder::new().name("site".into()).spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        })?;
        Ok(Self { shared, port, accepting: Some(accepting) })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, Vec<Arc<Request>>> {
        locked(&self.shared.log)
    }

    /// Empties the log.
    pub(crate) fn forget(&self) {
        self.log().clear();
    }

    /// Waits until a request is one that `matches`; whether it came within `patience`.
    pub(crate) fn wait_for(&self, patience: Duration, matches: impl Fn(&Request) -> bool) -> bool {
        let waited =
            self.shared.logged.wait_timeout_while(self.log(), patience, |log| !log.iter().any(|one| matches(one)));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        *locked(&self.shared.stopped) = true;
        self.shared.stopping.notify_all();
        for connection in locked(&self.shared.connections).values() {
            // Whoever is gone already needs no goodbye.
            let _ = connection.shutdown(Shutdown::Both);
        }
        // Wakes the thread that waits for connections.
        let woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

/// A thread that panicked has left nothing half done behind these locks.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for connection in listener.incoming() {
        if *locked(&shared.stopped) {
            return;
        }
        // A client that closes its connection while it waits must not affect the others.
        let Ok(connection) = connection else { continue };
        let shared = Arc::clone(shared);
        // Where no thread can be had, the connection is closed and the client asks again.
        let _ = thread::Builder::new().name("connection".into()).spawn(move || {
            let id = shared.next.fetch_add(1, Ordering::Relaxed);
            if let Ok(clone) = connection.try_clone() {
                locked(&shared.connections).insert(id, clone);
            }
            if *locked(&shared.stopped) {
                let _ = connection.shutdown(Shutdown::Both);
            }
            let _registered = ConnectionGuard(&shared, id);
            // A connection ends in many ways; the client sees which.
            let _ = serve(&shared, connection);
        });
    }
}

/// Takes a connection off the list when its thread ends, in whatever way.
struct ConnectionGuard<'a>(&'a Shared, u64);

impl Drop for ConnectionGuard<'_> {
    fn drop(&mut self) {
        locked(&self.0.connections).remove(&self.1);
    }
}

trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

fn serve(shared: &Shared, tcp: TcpStream) -> io::Result<()> {
    tcp.set_read_timeout(Some(IDLE))?;
    tcp.set_nodelay(true)?;
    let socket = tcp.try_clone()?;
    let stream: Box<dyn Stream> = match &shared.tls {
        Some(config) => {
            let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
            Box::new(StreamOwned::new(session, tcp))
        }
        None => Box::new(tcp),
    };
    let mut stream = BufReader::new(stream);
    while let Some(request) = Request::read(&mut stream)? {
        let request = Arc::new(request);
        locked(&shared.log).push(Arc::clone(&request));
        shared.logged.notify_all();
        match (shared.answer)(&request) {
            Reply::Whole(response) => response.write(&request, request.keeps_alive(), stream.get_mut())?,
            Reply::Bytes(write) => {
                return write(&mut Peer { shared, request: &request, stream: stream.get_mut(), socket: &socket });
            }
        }
        if !request.keeps_alive() {
            break;
        }
    }
    Ok(())
}

/// The client's end of a connection that is written by hand.
pub(crate) struct Peer<'a> {
    shared: &'a Shared,
    pub(crate) request: &'a Request,
    stream: &'a mut dyn Stream,
    socket: &'a TcpStream,
}

impl Peer<'_> {
    pub(crate) fn send(&mut self, response: &Response) -> io::Result<()> {
        response.write(self.request, false, self.stream)
    }

    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref())?;
        self.stream.flush()
    }

    /// Waits; an error where the server stops meanwhile.
    pub(crate) fn pause(&self, length: Duration) -> io::Result<()> {
        let end = Instant::now() + length;
        let mut stopped = locked(&self.shared.stopped);
        while !*stopped {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return Ok(()) };
            let waited = self.shared.stopping.wait_timeout(stopped, left);
            stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Err(io::ErrorKind::Interrupted.into())
    }

    /// Keeps the connection open, without a word, until the client leaves or the server stops.
    pub(crate) fn hold(&mut self) -> io::Result<()> {
        let mut ignored = [0; 1024];
        loop {
            match self.stream.read(&mut ignored) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes the end of the connection a reset.
    pub(crate) fn reset(&self) -> io::Result<()> {
        socket2::SockRef::from(self.socket).set_linger(Some(Duration::ZERO))
    }
}
