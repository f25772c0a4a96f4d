/** The client's form of the job (facts of Nomad 2.0's public API and job specification). See schema.ts for the notation. */
export const API_JOB_TABLES: Readonly<Record<string, string>> = {
  Job: `
    Region *string region, Namespace *string namespace, ID *string id, Name *string name, Type *string type
    Priority *int priority, AllAtOnce *bool all_at_once, Datacenters strings datacenters, NodePool *string node_pool
    Constraints []Constraint constraint{}, Affinities []Affinity affinity{}, TaskGroups []TaskGroup group{}
    Update *UpdateStrategy update{}, Multiregion *Multiregion multiregion{}, Spreads []Spread spread{}
    Periodic *PeriodicConfig periodic{}, ParameterizedJob *ParameterizedJobConfig parameterized{}
    Reschedule *ReschedulePolicy reschedule{}, Migrate *MigrateStrategy migrate{}, Meta map meta{}, UI *JobUIConfig ui{}
    Stop *bool -, ParentID *string -, Dispatched bool -, DispatchIdempotencyToken *string -, Payload bytes -
    ConsulNamespace *string -, VaultNamespace *string -, NomadTokenID *string -, Status *string -
    StatusDescription *string -, Stable *bool -, Version *uint64 -, SubmitTime *int64 -, CreateIndex *uint64 -
    ModifyIndex *uint64 -, JobModifyIndex *uint64 -, VersionTag *JobVersionTag -
  `,
  Constraint: "LTarget string attribute, RTarget string value, Operand string operator",
  Affinity: "LTarget string attribute, RTarget string value, Operand string operator, Weight *int8 weight",
  TaskGroup: `
    Name *string #name, Count *int count, Constraints []Constraint constraint{}, Affinities []Affinity affinity{}
    Tasks []Task task{}, Spreads []Spread spread{}, Volumes {}VolumeRequest volume{}
    RestartPolicy *RestartPolicy restart{}, Disconnect *DisconnectStrategy disconnect{}
    ReschedulePolicy *ReschedulePolicy reschedule{}, EphemeralDisk *EphemeralDisk ephemeral_disk{}
    Update *UpdateStrategy update{}, Migrate *MigrateStrategy migrate{}, Networks []NetworkResource network{}
    Meta map meta{}, Services []Service service{}, ShutdownDelay *duration shutdown_delay
    MaxRunDuration *duration max_run_duration, StopAfterClientDisconnect *duration stop_after_client_disconnect
    MaxClientDisconnect *duration max_client_disconnect, Scaling *ScalingPolicy scaling{}, Consul *Consul consul{}
    PreventRescheduleOnLost *bool prevent_reschedule_on_lost
  `,
  UpdateStrategy: `
    Stagger *duration stagger, MaxParallel *int max_parallel, HealthCheck *string health_check
    MinHealthyTime *duration min_healthy_time, HealthyDeadline *duration healthy_deadline
    ProgressDeadline *duration progress_deadline, Canary *int canary, AutoRevert *bool auto_revert
    AutoPromote *bool auto_promote
  `,
  Multiregion: "Strategy *MultiregionStrategy strategy{}, Regions []MultiregionRegion region{}",
  Spread: "Attribute string attribute, Weight *int8 weight, SpreadTarget []SpreadTarget target{}",
  PeriodicConfig: `
    Enabled *bool enabled, Spec *string cron, Specs strings crons, SpecType *string -
    ProhibitOverlap *bool prohibit_overlap, TimeZone *string time_zone
  `,
  ParameterizedJobConfig: "Payload string payload, MetaRequired strings meta_required, MetaOptional strings meta_optional",
  ReschedulePolicy: `
    Attempts *int attempts, Interval *duration interval, Delay *duration delay, DelayFunction *string delay_function
    MaxDelay *duration max_delay, Unlimited *bool unlimited
  `,
  MigrateStrategy: `
    MaxParallel *int max_parallel, HealthCheck *string health_check, MinHealthyTime *duration min_healthy_time
    HealthyDeadline *duration healthy_deadline
  `,
  JobUIConfig: "Description string description, Links []JobUILink link{}",
  JobVersionTag: "Name string -, Description string -, TaggedTime int64 -",
  Task: `
    Name string #name, Driver string driver, User string user, Lifecycle *TaskLifecycle lifecycle{}, Config any config{}
    Constraints []Constraint constraint{}, Affinities []Affinity affinity{}, Env map env{}, Services []Service service{}
    Resources *Resources resources{}, RestartPolicy *RestartPolicy restart{}, Meta map meta{}
    KillTimeout *duration kill_timeout, LogConfig *LogConfig logs{}, Artifacts []TaskArtifact artifact{}
    Vault *Vault vault{}, Consul *Consul consul{}, Templates []Template template{}
    DispatchPayload *DispatchPayloadConfig dispatch_payload{}, VolumeMounts []VolumeMount volume_mount{}
    CSIPluginConfig *TaskCSIPluginConfig? csi_plugin{}, Leader bool leader, ShutdownDelay duration shutdown_delay
    KillSignal string kill_signal, Kind string kind, ScalingPolicies []ScalingPolicy scaling{}, Secrets []Secret secret{}
    Identity *WorkloadIdentity -, Identities []WorkloadIdentity identity{}, Actions []Action action{}
    Schedule *TaskSchedule schedule{}
  `,
  VolumeRequest: `
    Name string #name, Type string type, Source string source, ReadOnly bool read_only, Sticky bool sticky
    AccessMode string access_mode, AttachmentMode string attachment_mode, MountOptions *CSIMountOptions mount_options{}
    PerAlloc bool per_alloc
  `,
  RestartPolicy: `
    Interval *duration interval, Attempts *int attempts, Delay *duration delay, Mode *string mode
    RenderTemplates *bool render_templates
  `,
  DisconnectStrategy: `
    LostAfter *duration lost_after, StopOnClientAfter *duration stop_on_client_after, Replace *bool replace
    Reconcile *string reconcile
  `,
  EphemeralDisk: "Sticky *bool sticky, Migrate *bool migrate, SizeMB *int size",
  NetworkResource: `
    Mode string mode, Device string device, CIDR string cidr, IP string ip, DNS *DNSConfig dns{}
    ReservedPorts []Port reserved_ports{}, DynamicPorts []Port port{}, Hostname string hostname, MBits *int mbits
    CNI *CNIConfig cni{}
  `,
  ScalingPolicy: `
    Min *int64 min, Max *int64 max, Policy any policy{}, Enabled *bool enabled, Type string type, ID string -
    Namespace string -, Target map -, CreateIndex uint64 -, ModifyIndex uint64 -
  `,
  Consul: "Namespace string namespace, Cluster string cluster, Partition string partition",
  MultiregionStrategy: "MaxParallel *int max_parallel, OnFailure *string on_failure",
  MultiregionRegion: `
    Name string #, Count *int count, Datacenters strings datacenters, NodePool string node_pool, Meta map meta{}
  `,
  SpreadTarget: "Value string #, Percent uint8 percent",
  JobUILink: "Label string label, URL string url",
  TaskLifecycle: "Hook string hook!, Sidecar bool sidecar",
  Resources: `
    CPU *int cpu, Cores *int cores, MemoryMB *int memory, MemoryMaxMB *int memory_max, DiskMB *int disk
    Networks []NetworkResource network{}, Devices []RequestedDevice device{}, NUMA *NUMAResource numa{}
    SecretsMB *int secrets, IOPS *int iops
  `,
  LogConfig: `
    MaxFiles *int max_files, MaxFileSizeMB *int max_file_size, Enabled *bool enabled, Disabled *bool disabled
  `,
  TaskArtifact: `
    GetterSource *string source, GetterOptions map options{}, GetterHeaders map headers{}, GetterMode *string mode
    GetterInsecure *bool insecure, RelativeDest *string destination, Chown bool chown
  `,
  Vault: `
    Policies strings policies, Role string role, Namespace *string namespace, Cluster string cluster, Env *bool env
    DisableFile *bool disable_file, ChangeMode *string change_mode, ChangeSignal *string change_signal
    AllowTokenExpiration *bool allow_token_expiration
  `,
  Template: `
    SourcePath *string source, DestPath *string destination, EmbeddedTmpl *string data, ChangeMode *string change_mode
    ChangeScript *ChangeScript change_script{}, ChangeSignal *string change_signal, Once *bool once, Splay *duration splay
    Perms *string perms, Uid *int uid, Gid *int gid, LeftDelim *string left_delimiter, RightDelim *string right_delimiter
    Envvars *bool env, VaultGrace *duration vault_grace, Wait *WaitConfig wait{}, ErrMissingKey *bool error_on_missing_key
  `,
  DispatchPayloadConfig: "File string file",
  VolumeMount: `
    Volume *string volume, Destination *string destination, ReadOnly *bool read_only
    PropagationMode *string propagation_mode, SELinuxLabel *string selinux_label
  `,
  TaskCSIPluginConfig: `
    ID string id, Type string type, MountDir string mount_dir, StagePublishBaseDir string stage_publish_base_dir
    HealthTimeout duration health_timeout
  `,
  Secret: "Name string #name, Provider string provider, Path string path, Config any config{}, Env map env{}",
  WorkloadIdentity: `
    Name string name, Audience strings aud, ChangeMode string change_mode, ChangeSignal string change_signal, Env bool env
    File bool file, Filepath string filepath, ServiceName string service_name, TTL duration ttl
    ExtraClaims strings extra_claims
  `,
  Action: "Name string #name, Command string command!, Args strings args",
  TaskSchedule: "Cron *TaskScheduleCron cron{}",
  CSIMountOptions: "FSType string fs_type, MountFlags strings mount_flags",
  DNSConfig: "Servers strings servers, Searches strings searches, Options strings options",
  Port: `
    Label string #, Value int static, To int to, HostNetwork string host_network, IgnoreCollision bool ignore_collision
  `,
  CNIConfig: "Args map args",
  RequestedDevice: `
    Name string #, Count *uint64 count, Constraints []Constraint constraint{}, Affinities []Affinity affinity{}
  `,
  NUMAResource: "Affinity string affinity, Devices strings devices",
  ChangeScript: `
    Command *string command!, Args strings args, Timeout *duration timeout, FailOnError *bool fail_on_error!
    RunOnFirstRender *bool run_on_first_render
  `,
  WaitConfig: "Min *duration min!, Max *duration max!",
  TaskScheduleCron: "Start string start, End string end, Timezone string timezone",
};
