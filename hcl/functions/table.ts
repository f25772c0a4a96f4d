import { randomBytes } from "node:crypto";
import { FunctionError, type HclFunction, parameter, type ValueFunction } from "../scope.ts";
import { STRING } from "../value.ts";
import { cidrFunctions } from "./cidr.ts";
import { collectionFunctions } from "./collections.ts";
import { dateFunctions } from "./dates.ts";
import { define } from "./define.ts";
import { encodingFunctions } from "./encoding.ts";
import { formatFunctions } from "./format.ts";
import { hashFunctions, type RandomBytes } from "./hashes.ts";
import { lazyFunctions } from "./lazy.ts";
import { numericFunctions } from "./numeric.ts";
import { sequenceFunctions } from "./sequences.ts";
import { textFunctions } from "./text.ts";
import { yamlFunctions } from "./yaml.ts";

/** Nomad's parse knows these, and refuses them (nomad-api §1), whatever they are asked about. */
function disabled(parameters: readonly string[]): ValueFunction {
  const given = parameters.map((name) => parameter(name, STRING, { allowUnknown: true }));
  return define(given, () => {
    throw new FunctionError("filesystem function disabled");
  });
}

const fileFunctions: Readonly<Record<string, ValueFunction>> = {
  abspath: disabled(["path"]),
  basename: disabled(["path"]),
  dirname: disabled(["path"]),
  file: disabled(["path"]),
  filebase64: disabled(["path"]),
  fileexists: disabled(["path"]),
  fileset: disabled(["path", "pattern"]),
  pathexpand: disabled(["path"]),
};

/**
 * The functions of Nomad's HCL2, no more and no less (nomad-api §1; no `sum`, `templatefile`, `timestamp`).
 * @param random feeds `uuidv4` and `bcrypt`
 */
export function nomadFunctions(random: RandomBytes = randomBytes): ReadonlyMap<string, HclFunction> {
  return new Map<string, HclFunction>(
    Object.entries({
      ...cidrFunctions,
      ...collectionFunctions,
      ...dateFunctions,
      ...encodingFunctions,
      ...fileFunctions,
      ...formatFunctions,
      ...hashFunctions(random),
      ...lazyFunctions,
      ...numericFunctions,
      ...sequenceFunctions,
      ...textFunctions,
      ...yamlFunctions,
    }),
  );
}
