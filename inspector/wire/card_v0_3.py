"""The types of an agent's card in A2A 0.3.0."""

from inspector.wire.schema import Definition, Enum, Tagged

DEFINITIONS: dict[str, Definition] = {
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

SECTIONS = {
    "AgentCard": "5.5",
    "AgentProvider": "5.5.1",
    "AgentCapabilities": "5.5.2",
    "AgentExtension": "5.5.2.1",
    "SecurityScheme": "5.5.3",
    "AgentSkill": "5.5.4",
    "AgentInterface": "5.5.5",
    "AgentCardSignature": "5.5.6",
}
