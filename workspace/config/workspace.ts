import type { Json } from "../../model/nomad.ts";
import type { CommandYaml } from "./command-schema.ts";
import type { PipelineFile } from "./pipeline-file.ts";
import type { PhaseYaml, ServiceYaml, SnapshotYaml, WorkspaceYaml } from "./schema.ts";

/** A service: one folder below `workspace/services/`, usually one Nomad job. */
export interface Service {
  readonly name: string;
  readonly definition: ServiceYaml;
  readonly type: "app" | "tool" | "infra";
  readonly enabled: boolean;
  readonly required: boolean;
  /** Namespace of its job. */
  readonly namespace: string;
  /** Job file, from the root; absent when the service has none. */
  readonly jobFile: string | undefined;
  /** Variable files, from the root. */
  readonly varFiles: readonly string[];
  /** Variables of its job file, `service.yml` and `local.yml` merged, templates not yet rendered. */
  readonly vars: Readonly<Record<string, Json>>;
  readonly deploy: PipelineFile | undefined;
  readonly reset: PipelineFile | undefined;
}

/** A pipeline file that is there but says nothing, so the built-in default stays (workspace §2). */
export interface InertFile {
  readonly file: string;
}

/** A workspace as its files state it. Nothing here has been rendered; secrets are only named. */
export interface Workspace {
  /** Absolute. */
  readonly root: string;
  readonly project: string;
  readonly namespace: string;
  readonly region: string | undefined;
  readonly cluster: string | undefined;
  /** Shell of `type: shell` steps. */
  readonly shell: string;
  /** `vars` of the project with those of local.yml on top, templates not yet rendered. */
  readonly vars: Readonly<Record<string, Json>>;
  readonly secrets: NonNullable<WorkspaceYaml["secrets"]>;
  /** All services by name, in order of name. */
  readonly services: ReadonlyMap<string, Service>;
  readonly commands: ReadonlyMap<string, CommandYaml>;
  /** Project pipelines; absent where the built-in default counts. */
  readonly deploy: PipelineFile | undefined;
  readonly reset: PipelineFile | undefined;
  readonly run: LifecycleStage | undefined;
  readonly stop: LifecycleStage | undefined;
  readonly snapshot: SnapshotYaml & { readonly createPhases: readonly PhaseYaml[]; readonly restorePhases: readonly PhaseYaml[] };
  readonly inert: readonly InertFile[];
}

export interface LifecycleStage {
  readonly file: string;
  readonly log: boolean | undefined;
  readonly phases: readonly PhaseYaml[];
}
