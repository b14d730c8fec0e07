import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Icon } from './icon.tsx'
import { layers } from './layers.ts'

interface DialogProps {
  title: ReactNode
  onClose: () => void
  children: ReactNode
  /** `wide` is for long texts. */
  size?: 'small' | 'medium' | 'wide'
  /** Shown beside the close button. */
  actions?: ReactNode
  /** Hides the heading visually, when the content starts with its own. */
  hasOwnHeading?: boolean
}

/** A native modal dialog: it traps the focus, and returns it on close. */
export function Dialog({ title, onClose, children, size = 'medium', actions, hasOwnHeading = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const isPressedOutside = useRef(false)
  useEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    const before = document.activeElement
    dialog.showModal()
    // Focus the first control of the content, not the close button.
    dialog.querySelector<HTMLElement>('[data-first], .dialog-body :is(input, select, textarea, button, a)')?.focus()
    layers.update((open) => [...open, dialog])
    return () => {
      dialog.close()
      layers.update((open) => open.filter((layer) => layer !== dialog))
      // The element may have been rendered again; then the caller sets the focus.
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is on the backdrop; its key is Escape
    <dialog
      ref={ref}
      className={`dialog is-${size}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        // Ignore cancel events of a file chooser inside the dialog.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        onClose()
      }}
      onPointerDown={(event) => {
        isPressedOutside.current = event.target === event.currentTarget
      }}
      onClick={(event) => {
        // A text selection may start inside the dialog and end outside.
        if (event.target === event.currentTarget && isPressedOutside.current) onClose()
      }}
    >
      <div className="dialog-frame">
        <header className="dialog-head">
          <h2 id={heading} className={hasOwnHeading ? 'visually-hidden' : undefined}>
            {title}
          </h2>
          <span className="spacer" />
          {actions}
          <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
