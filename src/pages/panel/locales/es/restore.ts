/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const restore: PanelTexts['restore'] = {
  title: 'Copia de seguridad restaurada',
  banner:
    'Esta instalación se restauró desde una copia de seguridad. Los cobros y las anulaciones automáticos esperan hasta que se libere.',
  bannerLink: 'Qué comprobar',
  none: 'No se ha restaurado ninguna copia de seguridad',
  noneHint: 'Después de una restauración, esta página muestra lo que puede diferir de sus proveedores.',
  held: 'A la espera de liberación',
  released: 'Liberada',
  leadHeld:
    'Lo que ocurrió entre la copia y la restauración no está en esta base de datos, pero sus proveedores lo tienen. Para que no se cobre dos veces a nadie, los cobros programados esperan, y también las anulaciones de autorizaciones caducadas. Los comercios pueden aceptar pagos y hacer reembolsos como siempre.',
  leadReleased: 'Los cobros programados y las anulaciones se hacen de nuevo.',
  restoredAt: 'Restaurada',
  backupAt: 'Copia del',
  releasedAt: 'Liberada',
  releasedBy: 'Liberada por',
  state: 'Estado',
  charges: 'Cobros programados en espera',
  chargesHint:
    'Después de la liberación se pregunta a sus proveedores por cada uno de estos cobros. Lo que ya tienen se anota aquí y no se cobra otra vez; lo demás se cobra una vez.',
  chargesShown: (shown: number, due: number): string => `Los primeros ${shown} de ${due} cobros.`,
  noCharges: 'No hay cobros pendientes',
  noChargesHint: 'Al liberar no se cobrará nada de inmediato.',
  order: 'Pedido',
  amount: 'Importe',
  planned: 'Previsto para',
  atProviderLabel: 'En el proveedor',
  atProvider: {
    settled: 'Ya pagado: no se cobrará otra vez',
    authorised: 'Ya autorizado: no se cobrará otra vez',
    accepted: 'Ya aceptado: no se cobrará otra vez',
    redirected: 'Ya iniciado: no se cobrará otra vez',
    declined: 'Ya rechazado: cuenta como rechazado',
    chargedBack: 'Pagado y con contracargo: no se cobrará otra vez',
    wrongAmount: 'Está allí con otro importe: tiene que verlo una persona',
    notFound: 'Desconocido allí: se cobrará',
    notAnswered: 'Sin respuesta: se preguntará otra vez antes de cobrar nada',
    cannotBeAsked: 'No se puede preguntar a este proveedor: compare con su extracto',
  },
  statements: 'Extractos de sus proveedores',
  statementsHint:
    'Suba los extractos del tiempo transcurrido desde la copia: los pagos que solo están en el extracto se hicieron después de la copia y no están en esta base de datos.',
  statement: 'Extracto',
  from: 'Desde',
  to: 'Hasta',
  missingHere: 'Falta aquí',
  upload: 'Comparar un extracto',
  noStatements: 'Aún no se ha comparado ningún extracto de este periodo',
  payouts: 'Pagos a comercios',
  payoutsHint:
    'Los pagos hechos desde la copia vuelven a estar abiertos. Compárelos con el extracto de su banco antes de aprobar uno o de escribir un archivo.',
  payoutsLink: 'Ver los pagos',
  access: 'Qué ha vuelto',
  accessHint:
    'Todo está como en el momento de la copia. Lo que se revocó, suspendió o quitó desde entonces vuelve a funcionar, y en la lista de tokens de monedero usados faltan los que se usaron desde entonces. La base de datos no puede saber cuáles son: revise las listas y repita lo que hizo.',
  tokens: 'Tokens de API que funcionan',
  operators: 'Usuarios que pueden iniciar sesión',
  cards: 'Tarjetas guardadas',
  release: 'Liberar',
  releaseHint: 'Los cobros y las anulaciones pendientes se hacen de inmediato.',
  note: 'Qué ha comprobado',
  noteHint:
    'Para el registro de auditoría, por ejemplo: comparado con el extracto del 16 de noviembre, revocados otra vez dos tokens.',
};
