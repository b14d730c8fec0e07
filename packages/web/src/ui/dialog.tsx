import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Icon } from './icon.tsx'
import { layers } from './layers.ts'

interface DialogProps {
  title: ReactNode
  onClose: () => void
  children: ReactNode
  /** `sheet` takes the whole screen of a phone, `wide` is for what is read. */
  size?: 'small' | 'medium' | 'wide'
  /** What stands beside the close button. */
  actions?: ReactNode
  /** Hides the heading from those who see, where the content begins with it. */
  has_own_heading?: boolean
}

/** The browser's own modal dialog: it keeps the focus inside, and gives it back to where it came from. */
export function Dialog({ title, onClose, children, size = 'medium', actions, has_own_heading = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const isPressedBeside = useRef(false)
  useEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    const before = document.activeElement
    dialog.showModal()
    // What the dialog is for, rather than the button that closes it.
    dialog.querySelector<HTMLElement>('[data-first], .dialog-body :is(input, select, textarea, button, a)')?.focus()
    layers.update((open) => [...open, dialog])
    return () => {
      dialog.close()
      layers.update((open) => open.filter((layer) => layer !== dialog))
      // What had the focus may have been drawn anew meanwhile; then the place that is left decides.
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is one beside the dialog; the key for it is Escape
    <dialog
      ref={ref}
      className={`dialog is-${size}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        // Only this dialog's own: a file chooser inside cancels too.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        onClose()
      }}
      onPointerDown={(event) => {
        isPressedBeside.current = event.target === event.currentTarget
      }}
      onClick={(event) => {
        // A selection that ends beside the dialog began inside.
        if (event.target === event.currentTarget && isPressedBeside.current) onClose()
      }}
    >
      <div className="dialog-frame">
        <header className="dialog-head">
          <h2 id={heading} className={has_own_heading ? 'unseen' : undefined}>
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
