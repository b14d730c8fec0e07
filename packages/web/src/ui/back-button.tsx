import { useEffect, useRef } from 'react'
import { focusAfterRender } from './focus.ts'
import { Icon } from './icon.tsx'

/** In place of a dialog's title, when one row of its list is open. It has the focus then. */
export function BackButton({ label, onClick }: { label: string; onClick: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => focusAfterRender(() => button.current), [])
  return (
    <button ref={button} type="button" className="button is-quiet dialog-back" data-first="" onClick={onClick}>
      <Icon name="left" /> {label}
    </button>
  )
}
