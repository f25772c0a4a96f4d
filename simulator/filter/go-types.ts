/**
 * The Go types of what lists can be filtered by: each field with its type, as go-bexpr sees it. `*` may be nothing, `any` is of no
 * type of its own. A field that is named as its type is embedded: its own fields stand beside it in JSON.
 */
export const goTypes: Readonly<Record<string, string>> = {
  Core: "SocketID hw.SocketID=uint8; NodeID uint8; ID hw.CoreID=uint16; Grade CoreGrade=bool; Disable bool; BaseSpeed hw.MHz=uint64; MaxSpeed hw.MHz=uint64; GuessSpeed hw.MHz=uint64",
  Topology:
    "Nodes []uint8; Distances [][]Cost=uint8; Cores []Core; BusAssociativity map[string]uint8; OverrideTotalCompute hw.MHz=uint64; OverrideWitholdCompute hw.MHz=uint64",
  ACLToken:
    "AccessorID string; SecretID string; Name string; Type string; Policies []string; Roles []*ACLTokenRoleLink; Global bool; Hash []uint8; CreateTime time.Time; ExpirationTime *time.Time; ExpirationTTL time.Duration=int64; CreateIndex uint64; ModifyIndex uint64",
  ACLTokenRoleLink: "ID string; Name string",
  Action: "Name string; Command string; Args []string",
  Affinity: "LTarget string; RTarget string; Operand string; Weight int8",
  AllocDeploymentStatus: "Healthy *bool; Timestamp time.Time; Canary bool; ModifyIndex uint64",
  AllocListStub:
    "ID string; EvalID string; Name string; Namespace string; NodeID string; NodeName string; JobID string; JobType string; JobVersion uint64; TaskGroup string; AllocatedResources *AllocatedResources; DesiredStatus string; DesiredDescription string; ClientStatus string; ClientDescription string; DesiredTransition DesiredTransition; TaskStates map[string]*TaskState; DeploymentStatus *AllocDeploymentStatus; FollowupEvalID string; NextAllocation string; RescheduleTracker *RescheduleTracker; PreemptedAllocations []string; PreemptedByAllocation string; CreateIndex uint64; ModifyIndex uint64; CreateTime int64; ModifyTime int64",
  AllocMetric:
    "NodesEvaluated int; NodesFiltered int; NodesInPool int; NodePool string; NodesAvailable map[string]int; ClassFiltered map[string]int; ConstraintFiltered map[string]int; NodesExhausted int; ClassExhausted map[string]int; DimensionExhausted map[string]int; QuotaExhausted []string; ResourcesExhausted map[string]*Resources; Scores map[string]float64; ScoreMetaData []*NodeScoreMeta; AllocationTime time.Duration=int64; CoalescedFailures int",
  AllocNetworkStatus: "InterfaceName string; Address string; AddressIPv6 string; DNS *DNSConfig",
  AllocState: "Field AllocStateField=uint8; Value string; Time time.Time",
  AllocatedCpuResources: "CpuShares int64; ReservedCores []uint16",
  AllocatedDeviceResource: "Vendor string; Type string; Name string; DeviceIDs []string",
  AllocatedMemoryResources: "MemoryMB int64; MemoryMaxMB int64",
  AllocatedPortMapping: "Label string; Value int; To int; HostIP string; IgnoreCollision bool",
  AllocatedResources:
    "Tasks map[string]*AllocatedTaskResources; TaskLifecycles map[string]*TaskLifecycleConfig; Shared AllocatedSharedResources",
  AllocatedSharedResources: "Networks []*NetworkResource; DiskMB int64; Ports []AllocatedPortMapping",
  AllocatedTaskResources:
    "Cpu AllocatedCpuResources; Memory AllocatedMemoryResources; Networks []*NetworkResource; Devices []*AllocatedDeviceResource",
  Allocation:
    "ID string; Namespace string; EvalID string; Name string; NodeID string; NodeName string; JobID string; Job *Job; TaskGroup string; Resources *Resources; SharedResources *Resources; TaskResources map[string]*Resources; AllocatedResources *AllocatedResources; Metrics *AllocMetric; DesiredStatus string; DesiredDescription string; DesiredTransition DesiredTransition; ClientStatus string; ClientDescription string; TaskStates map[string]*TaskState; AllocStates []*AllocState; PreviousAllocation string; NextAllocation string; DeploymentID string; DeploymentStatus *AllocDeploymentStatus; RescheduleTracker *RescheduleTracker; NetworkStatus *AllocNetworkStatus; FollowupEvalID string; PreemptedAllocations []string; PreemptedByAllocation string; SignedIdentities map[string]string; SigningKeyID string; CreateIndex uint64; ModifyIndex uint64; AllocModifyIndex uint64; CreateTime int64; ModifyTime int64",
  Attribute: "Float *float64; Int *int64; String *string; Bool *bool; Unit string",
  CNIConfig: "Args map[string]string",
  CSIControllerInfo:
    "SupportsCreateDelete bool; SupportsAttachDetach bool; SupportsListVolumes bool; SupportsGetCapacity bool; SupportsCreateDeleteSnapshot bool; SupportsListSnapshots bool; SupportsClone bool; SupportsReadOnlyAttach bool; SupportsExpand bool; SupportsListVolumesAttachedNodes bool; SupportsCondition bool; SupportsGet bool",
  CSIInfo:
    "PluginID string; AllocID string; Healthy bool; HealthDescription string; UpdateTime time.Time; Provider string; ProviderVersion string; RequiresControllerPlugin bool; RequiresTopologies bool; ControllerInfo *CSIControllerInfo; NodeInfo *CSINodeInfo",
  CSIMountOptions: "FSType string; MountFlags []string",
  CSINodeInfo:
    "ID string; MaxVolumes int64; AccessibleTopology *CSITopology; RequiresNodeStageVolume bool; SupportsStats bool; SupportsExpand bool; SupportsCondition bool",
  CSITopology: "Segments map[string]string",
  ChangeScript: "Command string; Args []string; Timeout time.Duration=int64; FailOnError bool; RunOnFirstRender bool",
  CheckRestart: "Limit int; Grace time.Duration=int64; IgnoreWarnings bool",
  ClientHostNetworkConfig: "Name string; CIDR string; Interface string; ReservedPorts string",
  ClientHostVolumeConfig: "Name string; Path string; ReadOnly bool; ID string",
  Constraint: "LTarget string; RTarget string; Operand string",
  Consul: "Namespace string; Cluster string; Partition string",
  ConsulConnect: "Native bool; SidecarService *ConsulSidecarService; SidecarTask *SidecarTask; Gateway *ConsulGateway",
  ConsulExposeConfig: "Paths []ConsulExposePath",
  ConsulExposePath: "Path string; Protocol string; LocalPathPort int; ListenerPort string",
  ConsulGateway:
    "Proxy *ConsulGatewayProxy; Ingress *ConsulIngressConfigEntry; Terminating *ConsulTerminatingConfigEntry; Mesh *ConsulMeshConfigEntry",
  ConsulGatewayBindAddress: "Address string; Port int",
  ConsulGatewayProxy:
    "ConnectTimeout *time.Duration=int64; EnvoyGatewayBindTaggedAddresses bool; EnvoyGatewayBindAddresses map[string]*ConsulGatewayBindAddress; EnvoyGatewayNoDefaultBind bool; EnvoyDNSDiscoveryType string; Config map[string]any",
  ConsulGatewayTLSConfig:
    "Enabled bool; TLSMinVersion string; TLSMaxVersion string; CipherSuites []string; SDS *ConsulGatewayTLSSDSConfig",
  ConsulGatewayTLSSDSConfig: "ClusterName string; CertResource string",
  ConsulHTTPHeaderModifiers: "Add map[string]string; Set map[string]string; Remove []string",
  ConsulIngressConfigEntry: "TLS *ConsulGatewayTLSConfig; Listeners []*ConsulIngressListener",
  ConsulIngressListener: "Port int; Protocol string; Services []*ConsulIngressService",
  ConsulIngressService:
    "Name string; Hosts []string; TLS *ConsulGatewayTLSConfig; RequestHeaders *ConsulHTTPHeaderModifiers; ResponseHeaders *ConsulHTTPHeaderModifiers; MaxConnections *uint32; MaxPendingRequests *uint32; MaxConcurrentRequests *uint32",
  ConsulLinkedService: "Name string; CAFile string; CertFile string; KeyFile string; SNI string",
  ConsulMeshConfigEntry: "",
  ConsulMeshGateway: "Mode string",
  ConsulProxy:
    "LocalServiceAddress string; LocalServicePort int; Upstreams []ConsulUpstream; Expose *ConsulExposeConfig; TransparentProxy *ConsulTransparentProxy; Config map[string]any",
  ConsulSidecarService: "Tags []string; Port string; Proxy *ConsulProxy; DisableDefaultTCPCheck bool; Meta map[string]string",
  ConsulTerminatingConfigEntry: "Services []*ConsulLinkedService",
  ConsulTransparentProxy:
    "UID string; OutboundPort uint16; ExcludeInboundPorts []string; ExcludeOutboundPorts []uint16; ExcludeOutboundCIDRs []string; ExcludeUIDs []string; NoDNS bool",
  ConsulUpstream:
    "DestinationName string; DestinationNamespace string; DestinationPartition string; DestinationPeer string; DestinationType string; LocalBindPort int; Datacenter string; LocalBindAddress string; LocalBindSocketPath string; LocalBindSocketMode string; MeshGateway ConsulMeshGateway; Config map[string]any",
  DNSConfig: "Servers []string; Searches []string; Options []string",
  Deployment:
    "ID string; Namespace string; JobID string; JobVersion uint64; JobModifyIndex uint64; JobSpecModifyIndex uint64; JobCreateIndex uint64; IsMultiregion bool; TaskGroups map[string]*DeploymentState; Status string; StatusDescription string; EvalPriority int; CreateIndex uint64; ModifyIndex uint64; CreateTime int64; ModifyTime int64",
  DeploymentState:
    "AutoRevert bool; AutoPromote bool; ProgressDeadline time.Duration=int64; RequireProgressBy time.Time; Promoted bool; PlacedCanaries []string; DesiredCanaries int; DesiredTotal int; PlacedAllocs int; HealthyAllocs int; UnhealthyAllocs int",
  DesiredTransition:
    "Migrate *bool; Reschedule *bool; ForceReschedule *bool; NoShutdownDelay *bool; MigrateDisablePlacement *bool",
  DesiredUpdates:
    "Ignore uint64; Place uint64; Migrate uint64; Stop uint64; InPlaceUpdate uint64; DestructiveUpdate uint64; Canary uint64; Preemptions uint64; Disconnect uint64; Reconnect uint64; RescheduleNow uint64; RescheduleLater uint64",
  DisconnectStrategy: "LostAfter time.Duration=int64; StopOnClientAfter *time.Duration=int64; Replace *bool; Reconcile string",
  DispatchPayloadConfig: "File string",
  DrainMetadata: "StartedAt time.Time; UpdatedAt time.Time; Status DrainStatus=string; AccessorID string; Meta map[string]string",
  DrainSpec: "Deadline time.Duration=int64; IgnoreSystemJobs bool",
  DrainStrategy: "DrainSpec DrainSpec; ForceDeadline time.Time; StartedAt time.Time",
  DriverInfo: "Attributes map[string]string; Detected bool; Healthy bool; HealthDescription string; UpdateTime time.Time",
  EphemeralDisk: "Sticky bool; SizeMB int; Migrate bool",
  Evaluation:
    "ID string; Namespace string; Priority int; Type string; TriggeredBy string; JobID string; JobModifyIndex uint64; NodeID string; NodeModifyIndex uint64; DeploymentID string; Status string; StatusDescription string; Wait time.Duration=int64; WaitUntil time.Time; NextEval string; PreviousEval string; BlockedEval string; RelatedEvals []*EvaluationStub; FailedTGAllocs map[string]*AllocMetric; PlanAnnotations *PlanAnnotations; ClassEligibility map[string]bool; QuotaLimitReached string; MissingNonNodeResources []string; EscapedComputedClass bool; AnnotatePlan bool; QueuedAllocations map[string]int; LeaderACL string; SnapshotIndex uint64; CreateIndex uint64; ModifyIndex uint64; CreateTime int64; ModifyTime int64",
  EvaluationStub:
    "ID string; Namespace string; Priority int; Type string; TriggeredBy string; JobID string; NodeID string; DeploymentID string; Status string; StatusDescription string; WaitUntil time.Time; NextEval string; PreviousEval string; BlockedEval string; CreateIndex uint64; ModifyIndex uint64; CreateTime int64; ModifyTime int64",
  Job: "Stop bool; Region string; Namespace string; ID string; ParentID string; Name string; Type string; Priority int; AllAtOnce bool; Datacenters []string; NodePool string; Constraints []*Constraint; Affinities []*Affinity; Spreads []*Spread; TaskGroups []*TaskGroup; Update UpdateStrategy; Multiregion *Multiregion; Periodic *PeriodicConfig; ParameterizedJob *ParameterizedJobConfig; Dispatched bool; DispatchIdempotencyToken string; Payload []uint8; Meta map[string]string; ConsulNamespace string; VaultNamespace string; NomadTokenID string; Status string; StatusDescription string; Stable bool; Version uint64; SubmitTime int64; CreateIndex uint64; ModifyIndex uint64; JobModifyIndex uint64; UI *JobUIConfig; VersionTag *JobVersionTag",
  JobUIConfig: "Description string; Links []*JobUILink",
  JobUILink: "Label string; Url string",
  JobVersionTag: "Name string; Description string; TaggedTime int64",
  LegacyNodeCpuResources: "CpuShares int64; TotalCpuCores uint16; ReservableCpuCores []uint16",
  LogConfig: "MaxFiles int; MaxFileSizeMB int; Disabled bool",
  MigrateStrategy: "MaxParallel int; HealthCheck string; MinHealthyTime time.Duration=int64; HealthyDeadline time.Duration=int64",
  Multiregion: "Strategy *MultiregionStrategy; Regions []*MultiregionRegion",
  MultiregionRegion: "Name string; Count int; Datacenters []string; NodePool string; Meta map[string]string",
  MultiregionStrategy: "MaxParallel int; OnFailure string",
  NUMA: "Affinity string; Devices []string",
  NetworkResource:
    "Mode string; Device string; CIDR string; IP string; Hostname string; MBits int; DNS *DNSConfig; ReservedPorts []Port; DynamicPorts []Port; CNI *CNIConfig",
  Node: "ID string; SecretID string; Datacenter string; Name string; CgroupParent string; HTTPAddr string; TLSEnabled bool; Attributes map[string]string; NodeResources *NodeResources; ReservedResources *NodeReservedResources; Links map[string]string; Meta map[string]string; NodeClass string; NodePool string; ComputedClass string; DrainStrategy *DrainStrategy; SchedulingEligibility string; Status string; StatusDescription string; IdentitySigningKeyID string; StatusUpdatedAt int64; Events []*NodeEvent; Drivers map[string]*DriverInfo; CSIControllerPlugins map[string]*CSIInfo; CSINodePlugins map[string]*CSIInfo; HostVolumes map[string]*ClientHostVolumeConfig; GCVolumesOnNodeGC bool; HostNetworks map[string]*ClientHostNetworkConfig; LastDrain *DrainMetadata; NodeMaxAllocs int; LastMissedHeartbeatIndex uint64; LastAllocUpdateIndex uint64; CreateIndex uint64; ModifyIndex uint64",
  NodeDevice: "ID string; Healthy bool; HealthDescription string; Locality *NodeDeviceLocality",
  NodeDeviceLocality: "PciBusID string",
  NodeDeviceResource: "Vendor string; Type string; Name string; Instances []*NodeDevice; Attributes map[string]*Attribute",
  NodeDiskResources: "DiskMB int64",
  NodeEvent: "Message string; Subsystem string; Details map[string]string; Timestamp time.Time; CreateIndex uint64",
  NodeMemoryResources: "MemoryMB int64",
  NodeNetworkAddress: "Family NodeNetworkAF=string; Alias string; Address string; ReservedPorts string; Gateway string",
  NodeNetworkResource: "Mode string; Device string; MacAddress string; Speed int; Addresses []NodeNetworkAddress",
  NodePool:
    "Name string; Description string; Meta map[string]string; SchedulerConfiguration *NodePoolSchedulerConfiguration; NodeIdentityTTL time.Duration=int64; Hash []uint8; CreateIndex uint64; ModifyIndex uint64",
  NodePoolSchedulerConfiguration: "SchedulerAlgorithm SchedulerAlgorithm=string; MemoryOversubscriptionEnabled *bool",
  NodeProcessorResources: "Topology *Topology",
  NodeReservedCpuResources: "CpuShares int64; ReservedCpuCores []uint16",
  NodeReservedDiskResources: "DiskMB int64",
  NodeReservedMemoryResources: "MemoryMB int64",
  NodeReservedNetworkResources: "ReservedHostPorts string",
  NodeReservedResources:
    "Cpu NodeReservedCpuResources; Memory NodeReservedMemoryResources; Disk NodeReservedDiskResources; Networks NodeReservedNetworkResources",
  NodeResources:
    "Cpu LegacyNodeCpuResources; Processors NodeProcessorResources; Memory NodeMemoryResources; Disk NodeDiskResources; Devices []*NodeDeviceResource; NodeNetworks []*NodeNetworkResource; Networks []*NetworkResource; MinDynamicPort int; MaxDynamicPort int",
  NodeScoreMeta: "NodeID string; Scores map[string]float64; NormScore float64",
  ParameterizedJobConfig: "Payload string; MetaRequired []string; MetaOptional []string",
  PeriodicConfig: "Enabled bool; Spec string; Specs []string; SpecType string; ProhibitOverlap bool; TimeZone string",
  PlanAnnotations: "DesiredTGUpdates map[string]*DesiredUpdates; PreemptedAllocs []*AllocListStub",
  Port: "Label string; Value int; To int; HostNetwork string; IgnoreCollision bool",
  RequestedDevice: "Name string; Count uint64; Constraints []*Constraint; Affinities []*Affinity",
  RescheduleEvent: "RescheduleTime int64; PrevAllocID string; PrevNodeID string; Delay time.Duration=int64",
  ReschedulePolicy:
    "Attempts int; Interval time.Duration=int64; Delay time.Duration=int64; DelayFunction string; MaxDelay time.Duration=int64; Unlimited bool",
  RescheduleTracker: "Events []*RescheduleEvent; LastReschedule RescheduleTrackerAnnotation=string",
  Resources:
    "CPU int; Cores int; MemoryMB int; MemoryMaxMB int; DiskMB int; IOPS int; Networks []*NetworkResource; Devices []*RequestedDevice; NUMA *NUMA; SecretsMB int",
  RestartPolicy: "Attempts int; Interval time.Duration=int64; Delay time.Duration=int64; Mode string; RenderTemplates bool",
  ScalingPolicy:
    "ID string; Type string; Target map[string]string; Policy map[string]any; Min int64; Max int64; Enabled bool; CreateIndex uint64; ModifyIndex uint64",
  Secret: "Name string; Provider string; Path string; Config map[string]any; Env map[string]string",
  Service:
    "Name string; TaskName string; PortLabel string; AddressMode string; Address string; EnableTagOverride bool; Tags []string; CanaryTags []string; Checks []*ServiceCheck; Connect *ConsulConnect; Meta map[string]string; CanaryMeta map[string]string; Weights *ServiceWeights; TaggedAddresses map[string]string; Namespace string; OnUpdate string; Provider string; Cluster string; Identity *WorkloadIdentity; Kind string",
  ServiceCheck:
    "Name string; Type string; Command string; Args []string; Path string; Protocol string; PortLabel string; Expose bool; AddressMode string; Interval time.Duration=int64; Timeout time.Duration=int64; InitialStatus string; Notes string; TLSServerName string; TLSSkipVerify bool; Method string; Header map[string][]string; CheckRestart *CheckRestart; GRPCService string; GRPCUseTLS bool; TaskName string; SuccessBeforePassing int; FailuresBeforeCritical int; FailuresBeforeWarning int; Body string; OnUpdate string",
  ServiceRegistration:
    "ID string; ServiceName string; Namespace string; NodeID string; Datacenter string; JobID string; AllocID string; Tags []string; Address string; Port int; CreateIndex uint64; ModifyIndex uint64",
  ServiceWeights: "Passing int; Warning int",
  SidecarTask:
    "Name string; Driver string; User string; Config map[string]any; Env map[string]string; Resources *Resources; Meta map[string]string; KillTimeout *time.Duration=int64; LogConfig *LogConfig; ShutdownDelay *time.Duration=int64; KillSignal string; VolumeMounts []*VolumeMount; Identities []*WorkloadIdentity",
  Spread: "Attribute string; Weight int8; SpreadTarget []*SpreadTarget",
  SpreadTarget: "Value string; Percent uint8",
  Task: "Name string; Driver string; User string; Config map[string]any; Env map[string]string; Services []*Service; Vault *Vault; Secrets []*Secret; Consul *Consul; Templates []*Template; Constraints []*Constraint; Affinities []*Affinity; Resources *Resources; RestartPolicy *RestartPolicy; DispatchPayload *DispatchPayloadConfig; Lifecycle *TaskLifecycleConfig; Meta map[string]string; KillTimeout time.Duration=int64; LogConfig *LogConfig; Artifacts []*TaskArtifact; Leader bool; ShutdownDelay time.Duration=int64; VolumeMounts []*VolumeMount; ScalingPolicies []*ScalingPolicy; KillSignal string; Kind TaskKind=string; CSIPluginConfig *TaskCSIPluginConfig; Identity *WorkloadIdentity; Identities []*WorkloadIdentity; Actions []*Action; Schedule *TaskSchedule",
  TaskArtifact:
    "GetterSource string; GetterOptions map[string]string; GetterHeaders map[string]string; GetterMode string; GetterInsecure bool; RelativeDest string; Chown bool",
  TaskCSIPluginConfig:
    "ID string; Type CSIPluginType=string; MountDir string; StagePublishBaseDir string; HealthTimeout time.Duration=int64",
  TaskEvent:
    "Type string; Time int64; Message string; DisplayMessage string; Details map[string]string; FailsTask bool; RestartReason string; SetupError string; DriverError string; ExitCode int; Signal int; KillTimeout time.Duration=int64; KillError string; KillReason string; StartDelay int64; DownloadError string; ValidationError string; DiskLimit int64; FailedSibling string; VaultError string; TaskSignalReason string; TaskSignal string; DriverMessage string; GenericSource string",
  TaskGroup:
    "Name string; Count int; Update *UpdateStrategy; Migrate *MigrateStrategy; Constraints []*Constraint; Scaling *ScalingPolicy; RestartPolicy *RestartPolicy; Disconnect *DisconnectStrategy; Tasks []*Task; EphemeralDisk *EphemeralDisk; Meta map[string]string; ReschedulePolicy *ReschedulePolicy; Affinities []*Affinity; Spreads []*Spread; Networks []*NetworkResource; Consul *Consul; Services []*Service; Volumes map[string]*VolumeRequest; ShutdownDelay *time.Duration=int64; MaxRunDuration *time.Duration=int64; StopAfterClientDisconnect *time.Duration=int64; MaxClientDisconnect *time.Duration=int64; PreventRescheduleOnLost bool",
  TaskLifecycleConfig: "Hook string; Sidecar bool",
  TaskSchedule: "Cron *TaskScheduleCron",
  TaskScheduleCron: "Start string; End string; Timezone string",
  TaskState:
    "State string; Failed bool; Restarts uint64; LastRestart time.Time; StartedAt time.Time; FinishedAt time.Time; Events []*TaskEvent; Paused TaskScheduleState=string",
  Template:
    "SourcePath string; DestPath string; EmbeddedTmpl string; ChangeMode string; ChangeSignal string; ChangeScript *ChangeScript; Once bool; Splay time.Duration=int64; Perms string; Uid *int; Gid *int; LeftDelim string; RightDelim string; Envvars bool; VaultGrace time.Duration=int64; Wait *WaitConfig; ErrMissingKey bool",
  UpdateStrategy:
    "Stagger time.Duration=int64; MaxParallel int; HealthCheck string; MinHealthyTime time.Duration=int64; HealthyDeadline time.Duration=int64; ProgressDeadline time.Duration=int64; AutoRevert bool; AutoPromote bool; Canary int",
  VariableData: "Data []uint8; KeyID string",
  VariableEncrypted: "VariableMetadata VariableMetadata; VariableData VariableData",
  VariableLock: "ID string; TTL time.Duration=int64; LockDelay time.Duration=int64",
  VariableMetadata:
    "Namespace string; Path string; Lock *VariableLock; CreateIndex uint64; CreateTime int64; ModifyIndex uint64; ModifyTime int64",
  Vault:
    "Role string; Namespace string; Cluster string; Env bool; DisableFile bool; ChangeMode string; ChangeSignal string; AllowTokenExpiration bool",
  VolumeMount: "Volume string; Destination string; ReadOnly bool; PropagationMode string; SELinuxLabel string",
  VolumeRequest:
    "Name string; Type string; Source string; ReadOnly bool; Sticky bool; AccessMode VolumeAccessMode=string; AttachmentMode VolumeAttachmentMode=string; MountOptions *CSIMountOptions; PerAlloc bool",
  WaitConfig: "Min *time.Duration=int64; Max *time.Duration=int64",
  WorkloadIdentity:
    "Name string; Audience []string; ChangeMode string; ChangeSignal string; Env bool; File bool; Filepath string; ServiceName string; TTL time.Duration=int64; ExtraClaims []string",
  "time.Time": "",
  Claims: "value map[string]string; list map[string][]string",
};
