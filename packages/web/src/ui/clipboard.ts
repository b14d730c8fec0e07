import { t } from './messages.ts'
import { showToast } from './toasts.ts'

/** Copies text and confirms it. The clipboard is missing on pages without HTTPS, and the user may block it. */
export async function copyText(text: string, confirmation = t.textCopied) {
  try {
    await navigator.clipboard.writeText(text)
    showToast(confirmation)
  } catch {
    showToast(t.clipboardBlocked)
  }
}
