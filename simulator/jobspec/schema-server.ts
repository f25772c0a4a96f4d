/** The server's form of the job (facts of Nomad 2.0's answers). See schema.ts for the notation. */
export const SERVER_JOB_TABLES: Readonly<Record<string, string>> = {
  Job: `
    Stop bool, Region string, Namespace string, ID string, ParentID string, Name string, Type string, Priority int
    AllAtOnce bool, Datacenters strings, NodePool string, Constraints []Constraint, Affinities []Affinity
    Spreads []Spread, TaskGroups []TaskGroup, Update UpdateStrategy, Multiregion *Multiregion, Periodic *PeriodicConfig
    ParameterizedJob *ParameterizedJobConfig, Dispatched bool, DispatchIdempotencyToken string, Payload bytes, Meta map
    ConsulNamespace string, VaultNamespace string, NomadTokenID string, Status string, StatusDescription string
    Stable bool, Version uint64, SubmitTime int64, CreateIndex uint64, ModifyIndex uint64, JobModifyIndex uint64
    UI *JobUIConfig, VersionTag *JobVersionTag
  `,
  Constraint: "LTarget string, RTarget string, Operand string",
  Affinity: "LTarget string, RTarget string, Operand string, Weight int8",
  Spread: "Attribute string, Weight int8, SpreadTarget []SpreadTarget",
  TaskGroup: `
    Name string, Count int, Update *UpdateStrategy, Migrate *MigrateStrategy, Constraints []Constraint
    Scaling *ScalingPolicy, RestartPolicy *RestartPolicy, Disconnect *DisconnectStrategy, Tasks []Task
    EphemeralDisk *EphemeralDisk, Meta map, ReschedulePolicy *ReschedulePolicy, Affinities []Affinity, Spreads []Spread
    Networks []NetworkResource, Consul *Consul, Services []Service, Volumes {}VolumeRequest, ShutdownDelay *duration
    MaxRunDuration *duration, StopAfterClientDisconnect *duration, MaxClientDisconnect *duration
    PreventRescheduleOnLost bool
  `,
  UpdateStrategy: `
    Stagger duration, MaxParallel int, HealthCheck string, MinHealthyTime duration, HealthyDeadline duration
    ProgressDeadline duration, AutoRevert bool, AutoPromote bool, Canary int
  `,
  Multiregion: "Strategy *MultiregionStrategy, Regions []MultiregionRegion",
  PeriodicConfig: "Enabled bool, Spec string, Specs strings, SpecType string, ProhibitOverlap bool, TimeZone string",
  ParameterizedJobConfig: "Payload string, MetaRequired strings, MetaOptional strings",
  JobUIConfig: "Description string, Links []JobUILink",
  JobVersionTag: "Name string, Description string, TaggedTime int64",
  SpreadTarget: "Value string, Percent uint8",
  MigrateStrategy: "MaxParallel int, HealthCheck string, MinHealthyTime duration, HealthyDeadline duration",
  ScalingPolicy: `
    ID string, Type string, Target map, Policy any, Min int64, Max int64, Enabled bool, CreateIndex uint64
    ModifyIndex uint64
  `,
  RestartPolicy: "Attempts int, Interval duration, Delay duration, Mode string, RenderTemplates bool",
  DisconnectStrategy: "LostAfter duration, StopOnClientAfter *duration, Replace *bool, Reconcile string",
  Task: `
    Name string, Driver string, User string, Config any, Env map, Services []Service, Vault *Vault, Secrets []Secret
    Consul *Consul, Templates []Template, Constraints []Constraint, Affinities []Affinity, Resources *Resources
    RestartPolicy *RestartPolicy, DispatchPayload *DispatchPayloadConfig, Lifecycle *TaskLifecycleConfig, Meta map
    KillTimeout duration, LogConfig *LogConfig, Artifacts []TaskArtifact, Leader bool, ShutdownDelay duration
    VolumeMounts []VolumeMount, ScalingPolicies []ScalingPolicy, KillSignal string, Kind string
    CSIPluginConfig *TaskCSIPluginConfig, Identity *WorkloadIdentity, Identities []WorkloadIdentity, Actions []Action
    Schedule *TaskSchedule
  `,
  EphemeralDisk: "Sticky bool, SizeMB int, Migrate bool",
  ReschedulePolicy: `
    Attempts int, Interval duration, Delay duration, DelayFunction string, MaxDelay duration, Unlimited bool
  `,
  NetworkResource: `
    Mode string?, Device string?, CIDR string?, IP string?, Hostname string?, MBits int?, DNS *DNSConfig?
    ReservedPorts []Port?, DynamicPorts []Port?, CNI *CNIConfig?
  `,
  Consul: "Namespace string, Cluster string, Partition string",
  VolumeRequest: `
    Name string, Type string, Source string, ReadOnly bool, Sticky bool, AccessMode string, AttachmentMode string
    MountOptions *CSIMountOptions, PerAlloc bool
  `,
  MultiregionStrategy: "MaxParallel int, OnFailure string",
  MultiregionRegion: "Name string, Count int, Datacenters strings, NodePool string, Meta map",
  JobUILink: "Label string, Url string",
  Vault: `
    Role string, Namespace string, Cluster string, Env bool, DisableFile bool, ChangeMode string, ChangeSignal string
    AllowTokenExpiration bool
  `,
  Secret: "Name string, Provider string, Path string, Config any, Env map",
  Template: `
    SourcePath string, DestPath string, EmbeddedTmpl string, ChangeMode string, ChangeSignal string
    ChangeScript *ChangeScript, Once bool, Splay duration, Perms string, Uid *int, Gid *int, LeftDelim string
    RightDelim string, Envvars bool, VaultGrace duration, Wait *WaitConfig, ErrMissingKey bool
  `,
  Resources: `
    CPU int, Cores int, MemoryMB int, MemoryMaxMB int, DiskMB int, IOPS int, Networks []NetworkResource
    Devices []RequestedDevice, NUMA *NUMA, SecretsMB int
  `,
  DispatchPayloadConfig: "File string",
  TaskLifecycleConfig: "Hook string, Sidecar bool",
  LogConfig: "MaxFiles int, MaxFileSizeMB int, Disabled bool",
  TaskArtifact: `
    GetterSource string, GetterOptions map, GetterHeaders map, GetterMode string, GetterInsecure bool, RelativeDest string
    Chown bool
  `,
  VolumeMount: "Volume string, Destination string, ReadOnly bool, PropagationMode string, SELinuxLabel string",
  TaskCSIPluginConfig: "ID string, Type string, MountDir string, StagePublishBaseDir string, HealthTimeout duration",
  WorkloadIdentity: `
    Name string, Audience strings, ChangeMode string, ChangeSignal string, Env bool, File bool, Filepath string
    ServiceName string, TTL duration, ExtraClaims strings
  `,
  Action: "Name string, Command string, Args strings",
  TaskSchedule: "Cron *TaskScheduleCron",
  DNSConfig: "Servers strings, Searches strings, Options strings",
  Port: "Label string?, Value int?, To int?, HostNetwork string?, IgnoreCollision bool?",
  CNIConfig: "Args map",
  CSIMountOptions: "FSType string, MountFlags strings",
  ChangeScript: "Command string, Args strings, Timeout duration, FailOnError bool, RunOnFirstRender bool",
  WaitConfig: "Min *duration, Max *duration",
  RequestedDevice: "Name string, Count uint64, Constraints []Constraint, Affinities []Affinity",
  NUMA: "Affinity string, Devices strings",
  TaskScheduleCron: "Start string, End string, Timezone string",
};
