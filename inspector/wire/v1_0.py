"""The types of an agent's card in A2A 1.0.

A test compares every definition with the protocol's own proto file.
"""

from inspector.wire.dialect import CardSections
from inspector.wire.schema import Definition, Keyed, Schema

DEFINITIONS: dict[str, Definition] = {
    "AgentCard": {
        "capabilities": "AgentCapabilities",
        "defaultInputModes": "string[]",
        "defaultOutputModes": "string[]",
        "description": "string",
        "name": "string",
        "skills": "AgentSkill[]",
        "supportedInterfaces": "AgentInterface[]",
        "version": "string",
        "documentationUrl?": "string",
        "iconUrl?": "string",
        "provider?": "AgentProvider",
        "securityRequirements?": "SecurityRequirement[]",
        "securitySchemes?": "{SecurityScheme}",
        "signatures?": "AgentCardSignature[]",
    },
    "AgentInterface": {
        "protocolBinding": "string",
        "protocolVersion": "string",
        "url": "string",
        "tenant?": "string",
    },
    "AgentProvider": {"organization": "string", "url": "string"},
    "AgentCapabilities": {
        "extendedAgentCard?": "boolean",
        "extensions?": "AgentExtension[]",
        "pushNotifications?": "boolean",
        "streaming?": "boolean",
    },
    "AgentExtension": {
        "description?": "string",
        "params?": "object",
        "required?": "boolean",
        "uri?": "string",
    },
    "AgentSkill": {
        "description": "string",
        "id": "string",
        "name": "string",
        "tags": "string[]",
        "examples?": "string[]",
        "inputModes?": "string[]",
        "outputModes?": "string[]",
        "securityRequirements?": "SecurityRequirement[]",
    },
    "AgentCardSignature": {
        "protected": "string",
        "signature": "string",
        "header?": "object",
    },
    "SecurityRequirement": {"schemes?": "{StringList}"},
    "StringList": {"list?": "string[]"},
    "SecurityScheme": Keyed(
        {
            "apiKeySecurityScheme": "OfApiKey",
            "httpAuthSecurityScheme": "OfHttpAuth",
            "mtlsSecurityScheme": "OfMutualTls",
            "oauth2SecurityScheme": "OfOAuth2",
            "openIdConnectSecurityScheme": "OfOpenIdConnect",
        }
    ),
    "OfApiKey": {"apiKeySecurityScheme": "APIKeySecurityScheme"},
    "OfHttpAuth": {"httpAuthSecurityScheme": "HTTPAuthSecurityScheme"},
    "OfMutualTls": {"mtlsSecurityScheme": "MutualTlsSecurityScheme"},
    "OfOAuth2": {"oauth2SecurityScheme": "OAuth2SecurityScheme"},
    "OfOpenIdConnect": {"openIdConnectSecurityScheme": "OpenIdConnectSecurityScheme"},
    "APIKeySecurityScheme": {"location": "string", "name": "string", "description?": "string"},
    "HTTPAuthSecurityScheme": {
        "scheme": "string",
        "bearerFormat?": "string",
        "description?": "string",
    },
    "OAuth2SecurityScheme": {
        "flows": "object",
        "description?": "string",
        "oauth2MetadataUrl?": "string",
    },
    "OpenIdConnectSecurityScheme": {"openIdConnectUrl": "string", "description?": "string"},
    "MutualTlsSecurityScheme": {"description?": "string"},
}

SECTIONS = {
    "AgentCard": "4.4.1",
    "AgentProvider": "4.4.2",
    "AgentCapabilities": "4.4.3",
    "AgentExtension": "4.4.4",
    "AgentSkill": "4.4.5",
    "AgentInterface": "4.4.6",
    "AgentCardSignature": "4.4.7",
    "SecurityScheme": "4.5.1",
    "APIKeySecurityScheme": "4.5.2",
    "HTTPAuthSecurityScheme": "4.5.3",
    "OAuth2SecurityScheme": "4.5.4",
    "OpenIdConnectSecurityScheme": "4.5.5",
    "MutualTlsSecurityScheme": "4.5.6",
}

SCHEMA = Schema("A2A 1.0", DEFINITIONS, SECTIONS)

CARD_RULES = CardSections(
    card="A2A 1.0 §4.4.1",
    discovery="A2A 1.0 §8.2",
    tls="A2A 1.0 §7.1",
    credentials="A2A 1.0 §7.3",
    url="A2A 1.0 §4.4.6",
    interfaces="A2A 1.0 §4.4.6",
    transports="A2A 1.0 §4.4.6",
    security="A2A 1.0 §4.5.1",
    skills="A2A 1.0 §4.4.5",
)
