"""The types of A2A 0.3.0 and the sections that define them.

A test compares every definition with the protocol's own JSON Schema.
"""

from inspector.wire.dialect import CardSections
from inspector.wire.schema import Definition, Enum, Keyed, Schema, Tagged
from inspector.wire.states import STATES

CARD_DEFINITIONS: dict[str, Definition] = {
    "AgentCard": {
        "capabilities": "AgentCapabilities",
        "defaultInputModes": "string[]",
        "defaultOutputModes": "string[]",
        "description": "string",
        "name": "string",
        "protocolVersion": "string",
        "skills": "AgentSkill[]",
        "url": "string",
        "version": "string",
        "additionalInterfaces?": "AgentInterface[]",
        "documentationUrl?": "string",
        "iconUrl?": "string",
        "preferredTransport?": "string",
        "provider?": "AgentProvider",
        "security?": "{string[]}[]",
        "securitySchemes?": "{SecurityScheme}",
        "signatures?": "AgentCardSignature[]",
        "supportsAuthenticatedExtendedCard?": "boolean",
    },
    "AgentProvider": {
        "organization": "string",
        "url": "string",
    },
    "AgentCapabilities": {
        "extensions?": "AgentExtension[]",
        "pushNotifications?": "boolean",
        "stateTransitionHistory?": "boolean",
        "streaming?": "boolean",
    },
    "AgentExtension": {
        "uri": "string",
        "description?": "string",
        "params?": "object",
        "required?": "boolean",
    },
    "AgentSkill": {
        "description": "string",
        "id": "string",
        "name": "string",
        "tags": "string[]",
        "examples?": "string[]",
        "inputModes?": "string[]",
        "outputModes?": "string[]",
        "security?": "{string[]}[]",
    },
    "AgentInterface": {
        "transport": "string",
        "url": "string",
    },
    "AgentCardSignature": {
        "protected": "string",
        "signature": "string",
        "header?": "object",
    },
    "APIKeySecurityScheme": {
        "in": "ApiKeyLocation",
        "name": "string",
        "type": "'apiKey'",
        "description?": "string",
    },
    "HTTPAuthSecurityScheme": {
        "scheme": "string",
        "type": "'http'",
        "bearerFormat?": "string",
        "description?": "string",
    },
    "OAuth2SecurityScheme": {
        "flows": "OAuthFlows",
        "type": "'oauth2'",
        "description?": "string",
        "oauth2MetadataUrl?": "string",
    },
    "OpenIdConnectSecurityScheme": {
        "openIdConnectUrl": "string",
        "type": "'openIdConnect'",
        "description?": "string",
    },
    "MutualTLSSecurityScheme": {
        "type": "'mutualTLS'",
        "description?": "string",
    },
    "OAuthFlows": {
        "authorizationCode?": "AuthorizationCodeOAuthFlow",
        "clientCredentials?": "ClientCredentialsOAuthFlow",
        "implicit?": "ImplicitOAuthFlow",
        "password?": "PasswordOAuthFlow",
    },
    "AuthorizationCodeOAuthFlow": {
        "authorizationUrl": "string",
        "scopes": "{string}",
        "tokenUrl": "string",
        "refreshUrl?": "string",
    },
    "ClientCredentialsOAuthFlow": {
        "scopes": "{string}",
        "tokenUrl": "string",
        "refreshUrl?": "string",
    },
    "ImplicitOAuthFlow": {
        "authorizationUrl": "string",
        "scopes": "{string}",
        "refreshUrl?": "string",
    },
    "PasswordOAuthFlow": {
        "scopes": "{string}",
        "tokenUrl": "string",
        "refreshUrl?": "string",
    },
    "ApiKeyLocation": Enum(frozenset({"cookie", "header", "query"})),
    "SecurityScheme": Tagged(
        "type",
        {
            "apiKey": "APIKeySecurityScheme",
            "http": "HTTPAuthSecurityScheme",
            "oauth2": "OAuth2SecurityScheme",
            "openIdConnect": "OpenIdConnectSecurityScheme",
            "mutualTLS": "MutualTLSSecurityScheme",
        },
    ),
}

CARD_SECTIONS = {
    "AgentCard": "5.5",
    "AgentProvider": "5.5.1",
    "AgentCapabilities": "5.5.2",
    "AgentExtension": "5.5.2.1",
    "SecurityScheme": "5.5.3",
    "AgentSkill": "5.5.4",
    "AgentInterface": "5.5.5",
    "AgentCardSignature": "5.5.6",
}

DEFINITIONS: dict[str, Definition] = {
    **CARD_DEFINITIONS,
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
    **CARD_SECTIONS,
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

CARD_RULES = CardSections(
    card="A2A 0.3 §5.5",
    discovery="A2A 0.3 §5.3",
    tls="A2A 0.3 §4.1",
    credentials="A2A 0.3 §5.4",
    url="A2A 0.3 §5.6.1",
    interfaces="A2A 0.3 §5.6.2",
    transports="A2A 0.3 §5.5.5",
    security="A2A 0.3 §5.5.3",
    skills="A2A 0.3 §5.5.4",
)
