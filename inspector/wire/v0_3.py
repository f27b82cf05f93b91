"""The types of A2A 0.3.0, those of its card apart, and what each method may answer.

A test compares every definition with the protocol's own JSON Schema.
"""

from inspector.wire import card_v0_3, jsonrpc
from inspector.wire.schema import Definition, Enum, Keyed, Schema, Tagged
from inspector.wire.states import STATES

DEFINITIONS: dict[str, Definition] = {
    **card_v0_3.DEFINITIONS,
    "Task": {
        "contextId": "string",
        "id": "string",
        "kind": "'task'",
        "status": "TaskStatus",
        "artifacts?": "Artifact[]",
        "history?": "Message[]",
        "metadata?": "object",
    },
    "TaskStatus": {
        "state": "TaskState",
        "message?": "Message",
        "timestamp?": "string",
    },
    "Message": {
        "kind": "'message'",
        "messageId": "string",
        "parts": "Part[]",
        "role": "Role",
        "contextId?": "string",
        "extensions?": "string[]",
        "metadata?": "object",
        "referenceTaskIds?": "string[]",
        "taskId?": "string",
    },
    "TextPart": {
        "kind": "'text'",
        "text": "string",
        "metadata?": "object",
    },
    "FilePart": {
        "file": "File",
        "kind": "'file'",
        "metadata?": "object",
    },
    "DataPart": {
        "data": "object",
        "kind": "'data'",
        "metadata?": "object",
    },
    "FileWithBytes": {
        "bytes": "string",
        "mimeType?": "string",
        "name?": "string",
    },
    "FileWithUri": {
        "uri": "string",
        "mimeType?": "string",
        "name?": "string",
    },
    "Artifact": {
        "artifactId": "string",
        "parts": "Part[]",
        "description?": "string",
        "extensions?": "string[]",
        "metadata?": "object",
        "name?": "string",
    },
    "TaskStatusUpdateEvent": {
        "contextId": "string",
        "final": "boolean",
        "kind": "'status-update'",
        "status": "TaskStatus",
        "taskId": "string",
        "metadata?": "object",
    },
    "TaskArtifactUpdateEvent": {
        "artifact": "Artifact",
        "contextId": "string",
        "kind": "'artifact-update'",
        "taskId": "string",
        "append?": "boolean",
        "lastChunk?": "boolean",
        "metadata?": "object",
    },
    "PushNotificationConfig": {
        "url": "string",
        "authentication?": "PushNotificationAuthenticationInfo",
        "id?": "string",
        "token?": "string",
    },
    "PushNotificationAuthenticationInfo": {
        "schemes": "string[]",
        "credentials?": "string",
    },
    "TaskPushNotificationConfig": {
        "pushNotificationConfig": "PushNotificationConfig",
        "taskId": "string",
    },
    "JSONRPCError": {
        "code": "integer",
        "message": "string",
        "data?": "any",
    },
    "Part": Tagged("kind", {"text": "TextPart", "file": "FilePart", "data": "DataPart"}),
    "File": Keyed({"bytes": "FileWithBytes", "uri": "FileWithUri"}),
    "TaskState": Enum(frozenset(STATES)),
    "Role": Enum(frozenset({"agent", "user"})),
    "SendResult": Tagged("kind", {"task": "Task", "message": "Message"}),
    "StreamResult": Tagged(
        "kind",
        {
            "task": "Task",
            "message": "Message",
            "status-update": "TaskStatusUpdateEvent",
            "artifact-update": "TaskArtifactUpdateEvent",
        },
    ),
}

SECTIONS = {
    **card_v0_3.SECTIONS,
    "Task": "6.1",
    "TaskStatus": "6.2",
    "TaskState": "6.3",
    "Message": "6.4",
    "Part": "6.5",
    "TextPart": "6.5.1",
    "FilePart": "6.5.2",
    "DataPart": "6.5.3",
    "File": "6.6",
    "FileWithBytes": "6.6.1",
    "FileWithUri": "6.6.2",
    "Artifact": "6.7",
    "PushNotificationConfig": "6.8",
    "PushNotificationAuthenticationInfo": "6.9",
    "TaskPushNotificationConfig": "6.10",
    "JSONRPCError": "6.12",
    "SendResult": "7.1",
    "StreamResult": "7.2.1",
    "TaskStatusUpdateEvent": "7.2.2",
    "TaskArtifactUpdateEvent": "7.2.3",
}

SCHEMA = Schema("A2A 0.3", DEFINITIONS, SECTIONS)

RESULT_TYPES = {
    jsonrpc.MESSAGE_SEND: "SendResult",
    jsonrpc.MESSAGE_STREAM: "StreamResult",
    jsonrpc.TASKS_GET: "Task",
    jsonrpc.TASKS_CANCEL: "Task",
    jsonrpc.TASKS_RESUBSCRIBE: "StreamResult",
    jsonrpc.PUSH_CONFIG_SET: "TaskPushNotificationConfig",
    jsonrpc.PUSH_CONFIG_GET: "TaskPushNotificationConfig",
}
