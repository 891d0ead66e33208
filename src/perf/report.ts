/** What `trinity perf run` writes; keys as programs that read such reports expect them. */
export interface PerfReport {
  readonly run_meta: {
    readonly module: PerfModule
    readonly config_path: string
    readonly explorer_name: string
    readonly monitor_interval_sec: number
    readonly hostname: string
    readonly pid: number
    /** Seconds since 1970. */
    readonly generated_at: number
  }
  readonly timing: PerfTiming
  readonly resource_timeline: readonly ResourceSample[]
  /** One for each step, with its numbers. */
  readonly step_metrics: readonly Readonly<Record<string, number>>[]
  readonly artifacts: {
    readonly checkpoint_job_dir: string | null
    readonly tensorboard_dir: string | null
    readonly log_dir: string | null
    readonly output_json: string
  }
  readonly status: {
    readonly success: boolean
    readonly error: string | null
    readonly gpu_metrics_available: boolean
    readonly tensorboard_metrics_available: boolean
  }
}

/** What is measured: the explorer alone, or the whole job. */
export const PERF_MODULES = ['explorer', 'both'] as const
export type PerfModule = (typeof PERF_MODULES)[number]

/** Seconds, and tokens per second of the execution. null: no numbers for it. */
export interface PerfTiming {
  readonly startup_time_sec: number
  readonly execution_time_sec: number
  readonly total_time_sec: number
  readonly prompt_tokens_per_second: number | null
  readonly response_tokens_per_second: number | null
  readonly api_call_prompt_tokens_per_second: number | null
  readonly api_call_response_tokens_per_second: number | null
}

export interface ResourceSample {
  /** Seconds since 1970. */
  readonly timestamp: number
  /** Of this process and those it has started; 100 is one core. */
  readonly cpu_percent: number
  readonly memory_rss_mb: number
  /** Of the memory of the machine. */
  readonly memory_percent: number
  readonly gpu_metrics: readonly GpuSample[]
}

export interface GpuSample {
  readonly gpu_id: number
  readonly name: string
  readonly gpu_util_percent: number
  readonly gpu_memory_used_mb: number
  readonly gpu_memory_total_mb: number
}
