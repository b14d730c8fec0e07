import { readFileSync } from 'node:fs'

const EVERY_MS = 50

interface Watched {
  pid: number
  hasEnded: () => boolean
  signal: (signal: NodeJS.Signals) => void
}

/** Kills a process that exceeds its memory limit, like a container, and records the peak of all processes. */
export class MemoryWatch {
  peakBytes = 0
  private readonly timer: NodeJS.Timeout

  constructor(processes: Watched[], limitBytes: number) {
    this.timer = setInterval(() => {
      for (const watched of processes) {
        if (watched.hasEnded()) continue
        const bytes = peakOf(watched.pid)
        this.peakBytes = Math.max(this.peakBytes, bytes)
        if (bytes > limitBytes) watched.signal('SIGKILL')
      }
    }, EVERY_MS)
  }

  [Symbol.dispose]() {
    clearInterval(this.timer)
  }
}

/** Peak resident memory of a process, from the kernel, so that no peak between two samples is missed. */
function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024
  } catch {
    // It has just ended.
    return 0
  }
}
