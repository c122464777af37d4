//! An S3-compatible server on the loopback device, for tests.
//!
//! `s3-server ROOT [--unlocked]` serves the folders in ROOT as buckets, prints the port that it
//! listens on, and ends when its standard input does, so that it never outlives its caller.
//!
//! It is s3s-fs with a lock around each object. By itself s3s-fs compares `If-Match` first and
//! writes later, and sends a body with an ETag that was read after it, so that of several
//! conditional puts at a time more than one may win. With `--unlocked` it is left as it is, to see
//! that the tests notice.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::dto::{
    CopyObjectInput, CopyObjectOutput, CopySource, CreateBucketInput, CreateBucketOutput,
    DeleteObjectInput, DeleteObjectOutput, DeleteObjectsInput, DeleteObjectsOutput, DeletedObject,
    GetObjectInput, GetObjectOutput, HeadObjectInput, HeadObjectOutput, ListObjectsV2Input,
    ListObjectsV2Output, PutObjectInput, PutObjectOutput,
};
use s3s::service::S3ServiceBuilder;
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};
use s3s_fs::FileSystem;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The only key pair that is let in.
const ACCESS_KEY: &str = "test";
const SECRET_KEY: &str = "test-secret";

struct Server {
    files: FileSystem,
    root: PathBuf,
    /// Objects with the same hash share a lock; none at all if unlocked.
    locks: Vec<RwLock<()>>,
}

impl Server {
    fn index(&self, bucket: &str, key: &str) -> Option<usize> {
        let mut hasher = DefaultHasher::new();
        (bucket, key).hash(&mut hasher);
        (hasher.finish() as usize).checked_rem(self.locks.len())
    }

    async fn read(&self, bucket: &str, key: &str) -> Option<RwLockReadGuard<'_, ()>> {
        Some(self.locks[self.index(bucket, key)?].read().await)
    }

    async fn write(&self, bucket: &str, key: &str) -> Option<RwLockWriteGuard<'_, ()>> {
        Some(self.locks[self.index(bucket, key)?].write().await)
    }

    /// To s3s-fs a folder is an object; to S3 there are no folders.
    fn is_folder(&self, bucket: &str, key: &str) -> bool {
        self.root.join(bucket).join(key).is_dir()
    }
}

#[async_trait::async_trait]
impl S3 for Server {
    async fn create_bucket(
        &self,
        request: S3Request<CreateBucketInput>,
    ) -> S3Result<S3Response<CreateBucketOutput>> {
        self.files.create_bucket(request).await
    }

    async fn get_object(
        &self,
        request: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let _guard = self.read(&request.input.bucket, &request.input.key).await;
        if self.is_folder(&request.input.bucket, &request.input.key) {
            return Err(s3_error!(NoSuchKey));
        }
        self.files.get_object(request).await
    }

    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let _guard = self.read(&request.input.bucket, &request.input.key).await;
        if self.is_folder(&request.input.bucket, &request.input.key) {
            return Err(s3_error!(NoSuchKey));
        }
        self.files.head_object(request).await
    }

    async fn put_object(
        &self,
        request: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let _guard = self.write(&request.input.bucket, &request.input.key).await;
        if !self.is_folder(&request.input.bucket, "") {
            return Err(s3_error!(NoSuchBucket));
        }
        self.files.put_object(request).await
    }

    async fn copy_object(
        &self,
        request: S3Request<CopyObjectInput>,
    ) -> S3Result<S3Response<CopyObjectOutput>> {
        let CopySource::Bucket { bucket, key, .. } = &request.input.copy_source else {
            return Err(s3_error!(NotImplemented));
        };
        if self.is_folder(bucket, key) {
            return Err(s3_error!(NoSuchKey));
        }
        // In order of the locks, so that two requests never wait for each other.
        let from = self.index(bucket, key);
        let to = self.index(&request.input.bucket, &request.input.key);
        let locks: BTreeSet<_> = from.into_iter().chain(to).collect();
        let mut guards = Vec::new();
        for lock in locks {
            guards.push(self.locks[lock].write().await);
        }
        self.files.copy_object(request).await
    }

    async fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        let _guard = self.write(&request.input.bucket, &request.input.key).await;
        if self.is_folder(&request.input.bucket, &request.input.key) {
            return Ok(S3Response::new(DeleteObjectOutput::default()));
        }
        self.files.delete_object(request).await
    }

    async fn delete_objects(
        &self,
        mut request: S3Request<DeleteObjectsInput>,
    ) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let bucket = request.input.bucket.clone();
        let (objects, missing): (Vec<_>, Vec<_>) =
            std::mem::take(&mut request.input.delete.objects)
                .into_iter()
                .partition(|object| self.root.join(&bucket).join(&object.key).is_file());
        // In order of the locks, so that two requests never wait for each other.
        let locks: BTreeSet<_> =
            objects.iter().filter_map(|object| self.index(&bucket, &object.key)).collect();
        let mut guards = Vec::new();
        for lock in locks {
            guards.push(self.locks[lock].write().await);
        }
        request.input.delete.objects = objects;
        let mut response = self.files.delete_objects(request).await?;
        // What was never there counts as deleted.
        let deleted = response.output.deleted.get_or_insert_default();
        deleted.extend(
            missing
                .into_iter()
                .map(|object| DeletedObject { key: Some(object.key), ..DeletedObject::default() }),
        );
        Ok(response)
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        self.files.list_objects_v2(request).await
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().ok_or("usage: s3-server ROOT [--unlocked]")?);
    let unlocked = match arguments.next().as_deref() {
        None => false,
        Some("--unlocked") => true,
        Some(_) => return Err("usage: s3-server ROOT [--unlocked]".into()),
    };
    let root = root.canonicalize()?;
    let files = FileSystem::new(&root).map_err(|error| format!("{error:?}"))?;
    let locks = (0..if unlocked { 0 } else { 1024 }).map(|_| RwLock::new(())).collect();
    let mut builder = S3ServiceBuilder::new(Server { files, root, locks });
    builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
    let service = builder.build();

    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{}", listener.local_addr()?.port());
    let mut input = tokio::io::stdin();
    let mut ignored = [0; 64];
    loop {
        tokio::select! {
            read = input.read(&mut ignored) => if read? == 0 { return Ok(()) },
            connection = listener.accept() => {
                let (socket, _) = connection?;
                socket.set_nodelay(true)?;
                let service = service.clone();
                tokio::spawn(async move {
                    let builder = Builder::new(TokioExecutor::new());
                    // A connection that breaks off is the client's affair.
                    let _ = builder.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        }
    }
}
