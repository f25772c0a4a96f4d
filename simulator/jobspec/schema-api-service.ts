/** The client's form of services, checks and Consul connect. See schema.ts for the notation. */
export const API_SERVICE_TABLES: Readonly<Record<string, string>> = {
  Service: `
    Name string name, Tags strings tags, CanaryTags strings canary_tags, EnableTagOverride bool enable_tag_override
    PortLabel string port, AddressMode string address_mode, Address string address, Checks []ServiceCheck check{}
    CheckRestart *CheckRestart check_restart{}, Connect *ConsulConnect connect{}, Meta map meta{}
    CanaryMeta map canary_meta{}, TaggedAddresses map tagged_addresses{}, TaskName string task, OnUpdate string on_update
    Identity *WorkloadIdentity identity{}, Weights *ServiceWeights weights{}, Provider string provider
    Cluster string cluster, Kind string kind
  `,
  ServiceCheck: `
    Name string name, Type string type, Command string command, Args strings args, Path string path
    Protocol string protocol, PortLabel string port, Expose bool expose, AddressMode string address_mode
    Advertise string advertise, Interval duration interval, Timeout duration timeout, InitialStatus string initial_status
    Notes string notes, TLSServerName string tls_server_name, TLSSkipVerify bool tls_skip_verify, Header headers header{}
    Method string method, CheckRestart *CheckRestart check_restart{}, GRPCService string grpc_service
    GRPCUseTLS bool grpc_use_tls, TaskName string task, SuccessBeforePassing int success_before_passing
    FailuresBeforeCritical int failures_before_critical, FailuresBeforeWarning int failures_before_warning
    Body string body, OnUpdate string on_update
  `,
  CheckRestart: "Limit int limit, Grace *duration grace, IgnoreWarnings bool ignore_warnings",
  ConsulConnect: `
    Native bool native, Gateway *ConsulGateway gateway{}, SidecarService *ConsulSidecarService sidecar_service{}
    SidecarTask *SidecarTask sidecar_task{}
  `,
  ServiceWeights: "Passing int passing, Warning int warning",
  ConsulGateway: `
    Proxy *ConsulGatewayProxy proxy{}, Ingress *ConsulIngressConfigEntry ingress{}
    Terminating *ConsulTerminatingConfigEntry terminating{}, Mesh *ConsulMeshConfigEntry mesh{}
  `,
  ConsulSidecarService: `
    Tags strings tags, Port string port, Proxy *ConsulProxy proxy{}, DisableDefaultTCPCheck bool disable_default_tcp_check
    Meta map meta{}
  `,
  SidecarTask: `
    Name string name, Driver string driver, User string user, Config any config{}, Env map env{}
    Resources *Resources resources{}, Meta map meta{}, KillTimeout *duration kill_timeout, LogConfig *LogConfig logs{}
    ShutdownDelay *duration shutdown_delay, KillSignal string kill_signal, VolumeMounts []VolumeMount volume_mount{}
    Identities []WorkloadIdentity identity{}
  `,
  ConsulGatewayProxy: `
    ConnectTimeout *duration connect_timeout, EnvoyGatewayBindTaggedAddresses bool envoy_gateway_bind_tagged_addresses
    EnvoyGatewayBindAddresses {}ConsulGatewayBindAddress envoy_gateway_bind_addresses{}
    EnvoyGatewayNoDefaultBind bool envoy_gateway_no_default_bind, EnvoyDNSDiscoveryType string envoy_dns_discovery_type
    Config any config{}
  `,
  ConsulIngressConfigEntry: "TLS *ConsulGatewayTLSConfig tls{}, Listeners []ConsulIngressListener listener{}",
  ConsulTerminatingConfigEntry: "Services []ConsulLinkedService service{}",
  ConsulMeshConfigEntry: "",
  ConsulProxy: `
    LocalServiceAddress string local_service_address, LocalServicePort int local_service_port
    Expose *ConsulExposeConfig expose{}, ExposeConfig *ConsulExposeConfig -, Upstreams []ConsulUpstream upstreams{}
    TransparentProxy *ConsulTransparentProxy transparent_proxy{}, Config any config{}
  `,
  ConsulGatewayBindAddress: "Name string #, Address string address, Port int port",
  ConsulGatewayTLSConfig: `
    Enabled bool enabled, TLSMinVersion string tls_min_version, TLSMaxVersion string tls_max_version
    CipherSuites strings cipher_suites, SDS *ConsulGatewayTLSSDSConfig sds{}
  `,
  ConsulIngressListener: "Port int port, Protocol string protocol, Services []ConsulIngressService service{}",
  ConsulLinkedService: `
    Name string name, CAFile string ca_file, CertFile string cert_file, KeyFile string key_file, SNI string sni
  `,
  ConsulExposeConfig: "Paths []ConsulExposePath path{}, Path []ConsulExposePath -",
  ConsulUpstream: `
    DestinationName string destination_name, DestinationNamespace string destination_namespace
    DestinationPeer string destination_peer, DestinationPartition string destination_partition
    DestinationType string destination_type, LocalBindPort int local_bind_port, Datacenter string datacenter
    LocalBindAddress string local_bind_address, LocalBindSocketPath string local_bind_socket_path
    LocalBindSocketMode string local_bind_socket_mode, MeshGateway *ConsulMeshGateway mesh_gateway{}, Config any config{}
  `,
  ConsulTransparentProxy: `
    UID string uid, OutboundPort uint16 outbound_port, ExcludeInboundPorts strings exclude_inbound_ports
    ExcludeOutboundPorts ints exclude_outbound_ports, ExcludeOutboundCIDRs strings exclude_outbound_cidrs
    ExcludeUIDs strings exclude_uids, NoDNS bool no_dns
  `,
  ConsulGatewayTLSSDSConfig: "ClusterName string cluster_name, CertResource string cert_resource",
  ConsulIngressService: `
    Name string name, Hosts strings hosts, TLS *ConsulGatewayTLSConfig tls{}
    RequestHeaders *ConsulHTTPHeaderModifiers request_headers{}
    ResponseHeaders *ConsulHTTPHeaderModifiers response_headers{}, MaxConnections *uint32 max_connections
    MaxPendingRequests *uint32 max_pending_requests, MaxConcurrentRequests *uint32 max_concurrent_requests
  `,
  ConsulExposePath: `
    Path string path, Protocol string protocol, LocalPathPort int local_path_port, ListenerPort string listener_port
  `,
  ConsulMeshGateway: "Mode string mode",
  ConsulHTTPHeaderModifiers: "Add map add{}, Set map set{}, Remove strings remove",
};
