import { Popover as BasePopover } from '@base-ui/react/popover'
import type { ReactNode } from 'react'

interface PopoverProps {
  /** Accessible name. */
  label: string
  /** The element beside which it is shown. */
  anchor: Element | undefined
  onClose: () => void
  /** The element that takes the focus; `null` is the first control. */
  initialFocus?: (() => HTMLElement | null) | undefined
  /** Covers the anchor where there is not enough space beside it, instead of scrolling. */
  mayCoverAnchor?: boolean
  children: ReactNode
}

/** A popover beside an element. It is open as long as it is mounted. */
export function Popover({ label, anchor, onClose, initialFocus, mayCoverAnchor = false, children }: PopoverProps) {
  return (
    <BasePopover.Root
      open
      onOpenChange={(_isOpen, details) => {
        const { event } = details
        const target = event instanceof FocusEvent ? event.relatedTarget : event.target
        // The anchor closes it itself.
        const isOfAnchor = details.reason !== 'escape-key' && target instanceof Node && anchor?.contains(target)
        const isAbove = target instanceof Element && target.closest('.is-on-top') !== null
        if (isOfAnchor || isAbove) details.cancel()
        else onClose()
      }}
    >
      <BasePopover.Portal>
        <BasePopover.Positioner
          {...(anchor && { anchor })}
          className="positioner"
          sideOffset={4}
          align="start"
          collisionPadding={8}
          {...(mayCoverAnchor && { collisionAvoidance: { side: 'shift', fallbackAxisSide: 'none' } })}
        >
          <BasePopover.Popup className="layer popover" aria-label={label} initialFocus={initialFocus}>
            {children}
          </BasePopover.Popup>
        </BasePopover.Positioner>
      </BasePopover.Portal>
    </BasePopover.Root>
  )
}
