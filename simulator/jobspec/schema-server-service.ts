/** The server's form of services, checks and Consul connect. See schema.ts for the notation. */
export const SERVER_SERVICE_TABLES: Readonly<Record<string, string>> = {
  Service: `
    Name string, TaskName string, PortLabel string, AddressMode string, Address string, EnableTagOverride bool
    Tags strings, CanaryTags strings, Checks []ServiceCheck, Connect *ConsulConnect, Meta map, CanaryMeta map
    Weights *ServiceWeights, TaggedAddresses map, Namespace string, OnUpdate string, Provider string, Cluster string
    Identity *WorkloadIdentity, Kind string
  `,
  ServiceCheck: `
    Name string, Type string, Command string, Args strings, Path string, Protocol string, PortLabel string, Expose bool
    AddressMode string, Interval duration, Timeout duration, InitialStatus string, Notes string, TLSServerName string
    TLSSkipVerify bool, Method string, Header headers, CheckRestart *CheckRestart, GRPCService string, GRPCUseTLS bool
    TaskName string, SuccessBeforePassing int, FailuresBeforeCritical int, FailuresBeforeWarning int, Body string
    OnUpdate string
  `,
  ConsulConnect: "Native bool, SidecarService *ConsulSidecarService, SidecarTask *SidecarTask, Gateway *ConsulGateway",
  ServiceWeights: "Passing int, Warning int",
  CheckRestart: "Limit int, Grace duration, IgnoreWarnings bool",
  ConsulSidecarService: "Tags strings, Port string, Proxy *ConsulProxy, DisableDefaultTCPCheck bool, Meta map",
  SidecarTask: `
    Name string, Driver string, User string, Config any, Env map, Resources *Resources, Meta map, KillTimeout *duration
    LogConfig *LogConfig, ShutdownDelay *duration, KillSignal string, VolumeMounts []VolumeMount
    Identities []WorkloadIdentity
  `,
  ConsulGateway: `
    Proxy *ConsulGatewayProxy, Ingress *ConsulIngressConfigEntry, Terminating *ConsulTerminatingConfigEntry
    Mesh *ConsulMeshConfigEntry
  `,
  ConsulProxy: `
    LocalServiceAddress string, LocalServicePort int, Upstreams []ConsulUpstream, Expose *ConsulExposeConfig
    TransparentProxy *ConsulTransparentProxy, Config any
  `,
  ConsulGatewayProxy: `
    ConnectTimeout *duration, EnvoyGatewayBindTaggedAddresses bool, EnvoyGatewayBindAddresses {}ConsulGatewayBindAddress
    EnvoyGatewayNoDefaultBind bool, EnvoyDNSDiscoveryType string, Config any
  `,
  ConsulIngressConfigEntry: "TLS *ConsulGatewayTLSConfig, Listeners []ConsulIngressListener",
  ConsulTerminatingConfigEntry: "Services []ConsulLinkedService",
  ConsulMeshConfigEntry: "",
  ConsulUpstream: `
    DestinationName string, DestinationNamespace string, DestinationPartition string, DestinationPeer string
    DestinationType string, LocalBindPort int, Datacenter string, LocalBindAddress string, LocalBindSocketPath string
    LocalBindSocketMode string, MeshGateway ConsulMeshGateway, Config any
  `,
  ConsulExposeConfig: "Paths []ConsulExposePath",
  ConsulTransparentProxy: `
    UID string, OutboundPort uint16, ExcludeInboundPorts strings, ExcludeOutboundPorts ints, ExcludeOutboundCIDRs strings
    ExcludeUIDs strings, NoDNS bool
  `,
  ConsulGatewayBindAddress: "Address string, Port int",
  ConsulGatewayTLSConfig: `
    Enabled bool, TLSMinVersion string, TLSMaxVersion string, CipherSuites strings, SDS *ConsulGatewayTLSSDSConfig
  `,
  ConsulIngressListener: "Port int, Protocol string, Services []ConsulIngressService",
  ConsulLinkedService: "Name string, CAFile string, CertFile string, KeyFile string, SNI string",
  ConsulMeshGateway: "Mode string",
  ConsulExposePath: "Path string, Protocol string, LocalPathPort int, ListenerPort string",
  ConsulGatewayTLSSDSConfig: "ClusterName string, CertResource string",
  ConsulIngressService: `
    Name string, Hosts strings, TLS *ConsulGatewayTLSConfig, RequestHeaders *ConsulHTTPHeaderModifiers
    ResponseHeaders *ConsulHTTPHeaderModifiers, MaxConnections *uint32, MaxPendingRequests *uint32
    MaxConcurrentRequests *uint32
  `,
  ConsulHTTPHeaderModifiers: "Add map, Set map, Remove strings",
};
