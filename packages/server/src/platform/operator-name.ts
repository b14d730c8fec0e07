import { userInfo } from 'node:os'

/** The operating system account of this process, for the audit log. In a container its id may have no name. */
export function operatorName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.()}`
  }
}
