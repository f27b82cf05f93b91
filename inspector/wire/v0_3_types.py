"""The types of A2A 0.3.0 and the sections that define them, as `schema` reads them.

A test compares every definition with the protocol's own JSON Schema.
"""

from inspector.wire.dialect import CardSections
from inspector.wire.schema import read_schema
from inspector.wire.states import STATES

_TYPES = """\
AgentCard §5.5 = capabilities: AgentCapabilities, defaultInputModes: string[],
    defaultOutputModes: string[], description: string, name: string, protocolVersion: string,
    skills: AgentSkill[], url: string, version: string, additionalInterfaces?: AgentInterface[],
    documentationUrl?: string, iconUrl?: string, preferredTransport?: string,
    provider?: AgentProvider, security?: {string[]}[], securitySchemes?: {SecurityScheme},
    signatures?: AgentCardSignature[], supportsAuthenticatedExtendedCard?: boolean
AgentProvider §5.5.1 = organization: string, url: string
AgentCapabilities §5.5.2 = extensions?: AgentExtension[], pushNotifications?: boolean,
    stateTransitionHistory?: boolean, streaming?: boolean
AgentExtension §5.5.2.1 = uri: string, description?: string, params?: object, required?: boolean
AgentSkill §5.5.4 = description: string, id: string, name: string, tags: string[],
    examples?: string[], inputModes?: string[], outputModes?: string[], security?: {string[]}[]
AgentInterface §5.5.5 = transport: string, url: string
AgentCardSignature §5.5.6 = protected: string, signature: string, header?: object
APIKeySecurityScheme = in: ApiKeyLocation, name: string, type: 'apiKey', description?: string
HTTPAuthSecurityScheme = scheme: string, type: 'http', bearerFormat?: string, description?: string
OAuth2SecurityScheme = flows: OAuthFlows, type: 'oauth2', description?: string,
    oauth2MetadataUrl?: string
OpenIdConnectSecurityScheme = openIdConnectUrl: string, type: 'openIdConnect',
    description?: string
MutualTLSSecurityScheme = type: 'mutualTLS', description?: string
OAuthFlows = authorizationCode?: AuthorizationCodeOAuthFlow,
    clientCredentials?: ClientCredentialsOAuthFlow, implicit?: ImplicitOAuthFlow,
    password?: PasswordOAuthFlow
AuthorizationCodeOAuthFlow = authorizationUrl: string, scopes: {string}, tokenUrl: string,
    refreshUrl?: string
ClientCredentialsOAuthFlow = scopes: {string}, tokenUrl: string, refreshUrl?: string
ImplicitOAuthFlow = authorizationUrl: string, scopes: {string}, refreshUrl?: string
PasswordOAuthFlow = scopes: {string}, tokenUrl: string, refreshUrl?: string
ApiKeyLocation = cookie | header | query
SecurityScheme §5.5.3 by type = apiKey: APIKeySecurityScheme, http: HTTPAuthSecurityScheme,
    oauth2: OAuth2SecurityScheme, openIdConnect: OpenIdConnectSecurityScheme,
    mutualTLS: MutualTLSSecurityScheme
Task §6.1 = contextId: string, id: string, kind: 'task', status: TaskStatus,
    artifacts?: Artifact[], history?: Message[], metadata?: object
TaskStatus §6.2 = state: TaskState, message?: Message, timestamp?: string
Message §6.4 = kind: 'message', messageId: string, parts: Part[], role: Role, contextId?: string,
    extensions?: string[], metadata?: object, referenceTaskIds?: string[], taskId?: string
TextPart §6.5.1 = kind: 'text', text: string, metadata?: object
FilePart §6.5.2 = file: File, kind: 'file', metadata?: object
DataPart §6.5.3 = data: object, kind: 'data', metadata?: object
FileWithBytes §6.6.1 = bytes: string, mimeType?: string, name?: string
FileWithUri §6.6.2 = uri: string, mimeType?: string, name?: string
Artifact §6.7 = artifactId: string, parts: Part[], description?: string, extensions?: string[],
    metadata?: object, name?: string
TaskStatusUpdateEvent §7.2.2 = contextId: string, final: boolean, kind: 'status-update',
    status: TaskStatus, taskId: string, metadata?: object
TaskArtifactUpdateEvent §7.2.3 = artifact: Artifact, contextId: string, kind: 'artifact-update',
    taskId: string, append?: boolean, lastChunk?: boolean, metadata?: object
PushNotificationConfig §6.8 = url: string, authentication?: PushNotificationAuthenticationInfo,
    id?: string, token?: string
PushNotificationAuthenticationInfo §6.9 = schemes: string[], credentials?: string
TaskPushNotificationConfig §6.10 = pushNotificationConfig: PushNotificationConfig, taskId: string
JSONRPCError §6.12 = code: integer, message: string, data?: any
Part §6.5 by kind = text: TextPart, file: FilePart, data: DataPart
File §6.6 by field = bytes: FileWithBytes, uri: FileWithUri
Role = agent | user
SendResult §7.1 by kind = task: Task, message: Message
StreamResult §7.2.1 by kind = task: Task, message: Message, status-update: TaskStatusUpdateEvent,
    artifact-update: TaskArtifactUpdateEvent
"""

SCHEMA = read_schema("A2A 0.3", f"{_TYPES}TaskState §6.3 = {' | '.join(STATES)}\n")

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
