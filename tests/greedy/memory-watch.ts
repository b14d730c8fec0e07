import { readFileSync } from 'node:fs'

const EVERY_MS = 50

interface Watched {
  pid: number
  hasEnded: () => boolean
  signal: (signal: NodeJS.Signals) => void
}

/** Ends a process that takes more memory than it may, as a container does, and keeps the most that any has taken. */
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

/** The most resident memory that a process has had, by the kernel's own account: no peak is missed between two looks. */
function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024
  } catch {
    // It has just ended.
    return 0
  }
}
