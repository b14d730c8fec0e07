import { useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'

const COPIED_MS = 2_000

/** False when the browser blocks the clipboard, as it does without HTTPS. */
export async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

interface CopyFieldProps {
  note: string
  /** Accessible name of the field. */
  label: string
  value: string
}

/** A link with a button that copies it. Where there is no clipboard, the user copies from the field. */
export function CopyField({ note, label, value }: CopyFieldProps) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    const isDone = await writeToClipboard(value)
    announce(isDone ? t.linkCopied : t.copyFailed)
    if (!isDone) return
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_MS)
  }
  return (
    <div className="members-address">
      <label>
        <span>{note}</span>
        <input className="input" readOnly aria-label={label} value={value} onFocus={(event) => event.target.select()} />
      </label>
      <button type="button" className="button" onClick={() => void copy()}>
        <Icon name={isCopied ? 'check' : 'link'} /> {isCopied ? t.copied : t.copyLink}
      </button>
    </div>
  )
}
