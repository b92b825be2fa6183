/** Texts of the panel in French. */
import type { PanelTexts } from '../texts.ts';

export const mails: PanelTexts['mails'] = {
  invitation: {
    subject: 'Votre invitation aux paiements de {host}',
    body: '{inviter} vous invite au panneau Turnpike de {host}. Vous y verrez les paiements, les rembourserez et suivrez les comptes.',
    button: 'Accepter l’invitation',
    after:
      'Le lien fonctionne une fois et expire après quelques jours. Si vous ne l’attendiez pas, ignorez cet e-mail.',
  },
  reset: {
    subject: 'Un nouveau mot de passe pour {host}',
    body: 'Bonjour {name}, quelqu’un a demandé un nouveau mot de passe pour votre panneau Turnpike sur {host}. Il vous faut aussi un code de votre application d’authentification ou un code de secours.',
    button: 'Choisir un nouveau mot de passe',
    after:
      'Le lien fonctionne une fois, pendant une heure. Si ce n’était pas vous, ignorez cet e-mail : votre mot de passe reste inchangé.',
  },
  notices: {
    chargebacks: {
      subject: 'Nouvelles rétrofacturations sur {host}',
      body: 'Des banques ont repris l’argent de ces paiements :',
      button: 'Ouvrir les rétrofacturations',
    },
    attention: {
      subject: 'Des paiements de {host} demandent votre attention',
      body: 'Ce qui a été signalé ne correspond pas à ces paiements ; une personne doit décider :',
      button: 'Ouvrir la liste',
    },
    connections: {
      subject: 'Un prestataire de {host} ne répond pas',
      body: 'Les appels à ces prestataires échouent ; les paiements prennent les autres routes, s’il y en a :',
      button: 'Ouvrir les connexions',
    },
    summary: {
      subject: 'La semaine de {host}',
      body: 'Du {from} au {to} :',
      button: 'Ouvrir les rapports',
    },
    answerBy: 'réponse avant le {date}',
    noAnswer: 'aucune réponse possible',
    counts: '{payments} paiements : {settled} payés, {declined} refusés, {chargebacks} rétrofacturations',
    amounts: '{captured} encaissés, {refunded} remboursés, {chargedBack} rétrofacturés, {net} net',
    more: 'et d’autres',
    after: 'Vous avez choisi ces e-mails sur la page « Votre connexion », où vous pouvez les arrêter.',
  },
  settlements: {
    paid: {
      subject: 'Versement de {amount} à {name}',
      body: 'Le versement de {amount} pour le règlement {number} a été payé sur votre compte bancaire.',
      after: 'Le panneau affiche le relevé du règlement.',
    },
    returned: {
      subject: 'Le versement de {amount} à {name} a été retourné',
      body: 'La banque a retourné le versement de {amount} pour le règlement {number}. Le montant fait de nouveau partie de votre solde, et un règlement ultérieur le versera.',
      after: 'Vérifiez avec nous que votre compte bancaire est correct.',
    },
    bankChanged: {
      subject: 'Le compte bancaire de {name} a été modifié',
      body: 'Les versements en {currency} vont désormais sur un autre compte bancaire : {detail}. Pendant 24 heures, rien n’y est versé, sauf si une deuxième personne confirme la modification.',
      after: 'Si vous ne vous y attendiez pas, prévenez-nous immédiatement.',
    },
    reason: 'La banque a donné cette raison : {detail}',
    button: 'Ouvrir le panneau',
  },
};
