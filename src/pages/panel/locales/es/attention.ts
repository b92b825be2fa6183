/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const attention: PanelTexts['attention'] = {
  lead: 'Pagos cuyo estado aquí y cuyo dinero en el proveedor pueden no coincidir, y reembolsos que necesitan una segunda persona.',
  marks: 'Motivos',
  actions: 'Decidir',
  none: 'No hay nada que revisar',
  noneHint: 'Cuando un proveedor comunica algo que no concuerda con un pago, el pago aparece aquí.',
  noneOfMark: 'Ningún pago tiene esta marca',
  noneOfMarkHint: 'Elija arriba otro motivo, u otra cuenta.',
  note: 'Nota',
  noteHint: 'Por qué. El historial del pago y el registro de auditoría la conservan.',
  reported: 'Comunicado por el proveedor',
  reserved: 'solo reservado',
  inProgress: 'Hay un reembolso en curso. La marca desaparece cuando el proveedor lo haya hecho.',
  resolutions: { accept: 'Aceptar', refund: 'Reembolsar', dismiss: 'Descartar' },
  titles: {
    accept: 'Aceptar el éxito tardío',
    refund: 'Devolver el dinero',
    dismiss: 'Descartar la marca',
  },
  confirm: {
    accept:
      'El dinero cuenta: el pago pasa a estar pagado y la tienda recibe el callback de un éxito. Esto no se puede deshacer, pero el pago se puede reembolsar después.',
    refund:
      'El proveedor devuelve el dinero al pagador. El pago se queda como está y la tienda no recibe ningún callback. Esto no se puede deshacer.',
    dismiss: 'Solo se quita la marca. En el proveedor no cambia nada y el pago se queda como está.',
  },
};
