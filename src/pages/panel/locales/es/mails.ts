/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const mails: PanelTexts['mails'] = {
  invitation: {
    subject: 'Su invitación a los pagos de {host}',
    body: '{inviter} le invita al panel de Turnpike de {host}. Allí puede ver pagos, reembolsarlos y ocuparse de las cuentas.',
    button: 'Aceptar la invitación',
    after: 'El enlace funciona una sola vez y caduca al cabo de unos días. Si no lo esperaba, ignore este correo.',
  },
  reset: {
    subject: 'Una contraseña nueva para {host}',
    body: 'Hola, {name}: alguien ha pedido una contraseña nueva para su panel de Turnpike en {host}. También necesita un código de su aplicación de autenticación o un código de recuperación.',
    button: 'Elegir una contraseña nueva',
    after:
      'El enlace funciona una sola vez, durante una hora. Si no fue usted, ignore este correo: su contraseña no cambia.',
  },
  notices: {
    chargebacks: {
      subject: 'Nuevos contracargos en {host}',
      body: 'Los bancos han retirado el dinero de estos pagos:',
      button: 'Abrir los contracargos',
    },
    attention: {
      subject: 'Pagos de {host} necesitan atención',
      body: 'Lo que se ha comunicado no encaja con estos pagos; una persona debe decidir:',
      button: 'Abrir la lista',
    },
    connections: {
      subject: 'Un proveedor de {host} no responde',
      body: 'Fallan las llamadas a estos proveedores; los pagos van por las otras rutas, si las hay:',
      button: 'Abrir las conexiones',
    },
    summary: {
      subject: 'La semana en {host}',
      body: 'Del {from} al {to}:',
      button: 'Abrir los informes',
    },
    answerBy: 'respuesta antes del {date}',
    noAnswer: 'no admite respuesta',
    counts: '{payments} pagos: {settled} pagados, {declined} rechazados, {chargebacks} contracargos',
    amounts: '{captured} cobrados, {refunded} reembolsados, {chargedBack} en contracargos, {net} netos',
    more: 'y otros',
    after: 'Eligió estos correos en la página «Su acceso», donde puede desactivarlos.',
  },
  settlements: {
    paid: {
      subject: 'Pago de {amount} a {name}',
      body: 'El pago de {amount} de la liquidación {number} se ha abonado en su cuenta bancaria.',
      after: 'El panel muestra el extracto de la liquidación.',
    },
    returned: {
      subject: 'El pago de {amount} a {name} fue devuelto',
      body: 'El banco ha devuelto el pago de {amount} de la liquidación {number}. El importe vuelve a formar parte de su saldo, y una liquidación posterior lo abonará.',
      after: 'Compruebe con nosotros que su cuenta bancaria es correcta.',
    },
    bankChanged: {
      subject: 'La cuenta bancaria de {name} ha cambiado',
      body: 'Los pagos en {currency} van desde ahora a otra cuenta bancaria: {detail}. Durante 24 horas no se abona nada en ella, salvo que otra persona confirme el cambio.',
      after: 'Si no esperaba este cambio, avísenos de inmediato.',
    },
    reason: 'El banco dio este motivo: {detail}',
    button: 'Abrir el panel',
  },
};
