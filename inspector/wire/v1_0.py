"""The types of an agent's card in A2A 1.0 and the sections that define them.

A test compares every definition with the protocol's own proto file.
"""

from inspector.wire.dialect import CardSections
from inspector.wire.schema import read_schema

_TYPES = """\
AgentCard §4.4.1 = capabilities: AgentCapabilities, defaultInputModes: string[],
    defaultOutputModes: string[], description: string, name: string, skills: AgentSkill[],
    supportedInterfaces: AgentInterface[], version: string, documentationUrl?: string,
    iconUrl?: string, provider?: AgentProvider, securityRequirements?: SecurityRequirement[],
    securitySchemes?: {SecurityScheme}, signatures?: AgentCardSignature[]
AgentInterface §4.4.6 = protocolBinding: string, protocolVersion: string, url: string,
    tenant?: string
AgentProvider §4.4.2 = organization: string, url: string
AgentCapabilities §4.4.3 = extendedAgentCard?: boolean, extensions?: AgentExtension[],
    pushNotifications?: boolean, streaming?: boolean
AgentExtension §4.4.4 = description?: string, params?: object, required?: boolean, uri?: string
AgentSkill §4.4.5 = description: string, id: string, name: string, tags: string[],
    examples?: string[], inputModes?: string[], outputModes?: string[],
    securityRequirements?: SecurityRequirement[]
AgentCardSignature §4.4.7 = protected: string, signature: string, header?: object
SecurityRequirement = schemes?: {StringList}
StringList = list?: string[]
SecurityScheme §4.5.1 by field = apiKeySecurityScheme: OfApiKey,
    httpAuthSecurityScheme: OfHttpAuth, mtlsSecurityScheme: OfMutualTls,
    oauth2SecurityScheme: OfOAuth2, openIdConnectSecurityScheme: OfOpenIdConnect
OfApiKey = apiKeySecurityScheme: APIKeySecurityScheme
OfHttpAuth = httpAuthSecurityScheme: HTTPAuthSecurityScheme
OfMutualTls = mtlsSecurityScheme: MutualTlsSecurityScheme
OfOAuth2 = oauth2SecurityScheme: OAuth2SecurityScheme
OfOpenIdConnect = openIdConnectSecurityScheme: OpenIdConnectSecurityScheme
APIKeySecurityScheme §4.5.2 = location: string, name: string, description?: string
HTTPAuthSecurityScheme §4.5.3 = scheme: string, bearerFormat?: string, description?: string
OAuth2SecurityScheme §4.5.4 = flows: object, description?: string, oauth2MetadataUrl?: string
OpenIdConnectSecurityScheme §4.5.5 = openIdConnectUrl: string, description?: string
MutualTlsSecurityScheme §4.5.6 = description?: string
"""

SCHEMA = read_schema("A2A 1.0", _TYPES)

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
