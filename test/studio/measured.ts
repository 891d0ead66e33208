import type { PerfReport } from '../../src/perf/report.js'
import { timingOf } from '../../src/perf/timing.js'
import { EVIL } from './hostile-run.js'

const used = { cpu_percent: 150, memory_rss_mb: 100, memory_percent: 1, gpu_metrics: [] }
/** A report of `trinity perf run` for Studio to show. */
export const measured: PerfReport = {
  run_meta: {
    ...{ module: 'both', config_path: 'a.yaml', explorer_name: 'explorer', monitor_interval_sec: 2 },
    ...{ hostname: 'here', pid: 1, generated_at: 1.7e9 },
  },
  timing: timingOf(1, 2, []),
  resource_timeline: [1, 2, 3].map((timestamp) => ({ timestamp, ...used })),
  step_metrics: [1, 2].map((step) => ({ step, 'time/step': step })),
  artifacts: { checkpoint_job_dir: null, tensorboard_dir: null, log_dir: null, output_json: 'output.json' },
  status: { success: false, error: EVIL, gpu_metrics_available: false, tensorboard_metrics_available: true },
}
