//! Answers as JSON, and refusals in words.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use netloom_control::ControlError;
use netloom_judge::{ExitCode, RunError};
use netloom_results::IndexError;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Why a request is refused: its status, and what its body says.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    body: Map<String, Value>,
}

/// What a request is answered with.
pub(crate) type Answer = Result<axum::response::Response, Refusal>;

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let mut body = Map::new();
        body.insert("message".into(), Value::String(message.into()));
        Self { status, body }
    }

    /// The request makes no sense.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// There is no such thing.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// It is not allowed.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// The machine or the program failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// The same, with something more in its body.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.body.insert(key.into(), value.into());
        self
    }

    /// What it says.
    pub(crate) fn message(&self) -> &str {
        self.body.get("message").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether there is no such thing.
    pub(crate) fn is_missing(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    /// What a WebSocket says that is closed for this reason.
    pub(crate) fn close_code(&self) -> u16 {
        match self.status {
            StatusCode::FORBIDDEN => 4403,
            StatusCode::NOT_FOUND => 4404,
            _ => 4409,
        }
    }
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        let code = error.exit_code();
        let status = match (&error, code) {
            (RunError::Silent { .. }, _) => StatusCode::CONFLICT,
            (_, ExitCode::NoSuchLab) => StatusCode::NOT_FOUND,
            (_, ExitCode::Usage) => StatusCode::BAD_REQUEST,
            (_, ExitCode::LabFile) => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string()).with("code", code.number())
    }
}

impl From<IndexError> for Refusal {
    fn from(error: IndexError) -> Self {
        RunError::from(error).into()
    }
}

impl From<ControlError> for Refusal {
    fn from(error: ControlError) -> Self {
        RunError::from(error).into()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> axum::response::Response {
        (self.status, sent(&Value::Object(self.body))).into_response()
    }
}

/// An answer in JSON.
pub(crate) fn reply(value: &impl Serialize) -> Answer {
    Ok(sent(value))
}

/// The same with another status than 200.
pub(crate) fn reply_with(status: StatusCode, value: &impl Serialize) -> Answer {
    Ok((status, sent(value)).into_response())
}

fn sent(value: &impl Serialize) -> axum::response::Response {
    let text =
        serde_json::to_vec(value).unwrap_or_else(|error| json!({ "message": error.to_string() }).to_string().into());
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Reads a body as JSON. A wrong one is refused in words.
pub(crate) fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::bad(format!("the body of this request: {error}")))
}

/// Does what may take a while where it keeps no connection waiting. What panics is refused, and the server goes on.
pub(crate) async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Refusal::failed("the program failed at this request: this is a mistake in netloom"))
}
