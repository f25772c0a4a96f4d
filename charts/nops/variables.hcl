variable "job_name" {
  description = "Name of the job"
  type        = string
  default     = "nops"
}

variable "namespace" {
  description = "Namespace that nops runs in"
  type        = string
  default     = "nops"
}

variable "datacenters" {
  description = "Datacenters it may run in"
  type        = list(string)
  default     = ["*"]
}

variable "image" {
  description = "Image built from deploy/Dockerfile"
  type        = string
  default     = "nops:0.1.0"
}

variable "volume" {
  description = "Host volume for the database and the git caches"
  type        = string
  default     = "nops-data"
}

variable "config" {
  description = "Text of nops.yml; nomad.address is set by the job"
  type        = string
}

variable "cpu" {
  description = "CPU shares, MHz"
  type        = number
  default     = 200
}

variable "memory" {
  description = "Memory, MB"
  type        = number
  default     = 256
}

variable "service_tags" {
  description = "Tags of the service"
  type        = list(string)
  default     = ["metrics"]
}
