<?php

/** One step of a person in the test shop: its owner or its database, without a browser. JSON in, JSON out. */

declare(strict_types=1);

[, $root, $step] = $argv;
$_SERVER += ['HTTP_HOST' => getenv('SHOP_HOST'), 'REQUEST_METHOD' => 'GET', 'REMOTE_ADDR' => '127.0.0.1', 'REQUEST_URI' => '/'];
if ($step === 'install') {
    define('WP_INSTALLING', true);
}
require "$root/wp-load.php";
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';
$given = json_decode((string) file_get_contents('php://stdin'), true, 16, JSON_THROW_ON_ERROR);

/** The runs of the scheduler wait for the test: a step runs what is due at any time. */
function run_actions(string $hook): int
{
    $ids = as_get_scheduled_actions(['hook' => $hook, 'status' => 'pending', 'per_page' => 50], 'ids');
    foreach ($ids as $id) {
        ActionScheduler::runner()->process_action($id, 'test');
    }
    return count($ids);
}

$steps = [
    'install' => function () use ($given): array {
        wp_install('Tea & Cups', 'owner', 'owner@shop.example', false, '', 'owner password');
        update_option('permalink_structure', '/%postname%/');
        return ['ok' => true];
    },
    'activate' => function () use ($given): array {
        $failed = activate_plugin($given['plugin']);
        return ['error' => is_wp_error($failed) ? $failed->get_error_message() : null];
    },
    'set-up' => function () use ($given): array {
        WC_Install::install();
        WC_Install::create_pages();
        foreach ($given['options'] as $name => $value) {
            update_option($name, $value);
        }
        $product = new WC_Product_Simple();
        $product->set_props(['name' => 'Pot of tea', 'slug' => 'tea', 'regular_price' => '19.99', 'virtual' => true, 'status' => 'publish']);
        wp_insert_user(['user_login' => 'ana', 'user_pass' => 'ana password', 'user_email' => 'ana@example.com', 'role' => 'customer']);
        $id = $product->save();
        flush_rewrite_rules();
        return [
            'product' => $id,
            'versions' => ['wordpress' => get_bloginfo('version'), 'woocommerce' => WC()->version, 'php' => PHP_VERSION],
            'checkout' => wc_get_checkout_url(),
        ];
    },
    'options' => function () use ($given): array {
        foreach ($given as $name => $value) {
            update_option($name, $value);
        }
        return ['ok' => true];
    },
    'checkout-page' => function () use ($given): array {
        $id = wc_get_page_id('checkout');
        $blocks = get_post_meta($id, '_test_blocks', true);
        if ($blocks === '') {
            $blocks = get_post($id)->post_content;
            update_post_meta($id, '_test_blocks', wp_slash($blocks));
        }
        $content = $given['is_classic'] ? '<!-- wp:shortcode -->[woocommerce_checkout]<!-- /wp:shortcode -->' : $blocks;
        wp_update_post(['ID' => $id, 'post_content' => wp_slash($content)]);
        return ['is_block' => has_block('woocommerce/checkout', $id)];
    },
    'price' => function () use ($given): array {
        $product = wc_get_product($given['product']);
        $product->set_regular_price($given['price']);
        $product->save();
        return ['ok' => true];
    },
    'order' => function () use ($given): array {
        $order = wc_get_order($given['id']);
        $cards = WC_Payment_Tokens::get_customer_tokens($order->get_customer_id() ?: -1, 'turnpike');
        return [
            'status' => $order->get_status(),
            'total' => $order->get_total(),
            'currency' => $order->get_currency(),
            'method' => $order->get_payment_method(),
            'transaction' => $order->get_transaction_id(),
            'attempt' => $order->get_meta('_turnpike_attempt') ?: null,
            'payments' => $order->get_meta('_turnpike_payments') ?: [],
            'notes' => array_map(fn ($note) => $note->content, wc_get_order_notes(['order_id' => $order->get_id()])),
            'refunds' => array_map(fn ($refund) => $refund->get_amount(), $order->get_refunds()),
            'cards' => array_values(array_map(fn ($card) => $card->get_display_name(), $cards)),
            'pay_url' => $order->get_checkout_payment_url(),
            'is_hpos' => Automattic\WooCommerce\Utilities\OrderUtil::custom_orders_table_usage_is_enabled(),
        ];
    },
    'new-order' => function () use ($given): array {
        $order = wc_create_order(['customer_id' => $given['customer'] ?? 0]);
        $order->add_product(wc_get_product($given['product']), 1);
        $order->set_currency($given['currency'] ?? get_woocommerce_currency());
        $order->set_billing_email('ana@example.com');
        $order->calculate_totals();
        $order->save();
        return ['id' => $order->get_id(), 'key' => $order->get_order_key()];
    },
    'pay' => function () use ($given): array {
        WC()->frontend_includes();
        wc_load_cart();
        wp_set_current_user($given['customer'] ?? 0);
        $gateway = WC()->payment_gateways()->payment_gateways()['turnpike'];
        $answer = $gateway->process_payment($given['id']);
        return ['answer' => $answer, 'notices' => array_column(wc_get_notices('error'), 'notice')];
    },
    'gateway-address' => function () use ($given): array {
        update_option('woocommerce_turnpike_settings', $given + get_option('woocommerce_turnpike_settings'));
        return ['ok' => true];
    },
    'set-total' => function () use ($given): array {
        $order = wc_get_order($given['id']);
        $order->set_total($given['total']);
        $order->save();
        return ['ok' => true];
    },
    'check' => fn (): array => ['checks' => run_actions('turnpike_check_order')],
    'pending-checks' => fn (): array => [
        'checks' => count(as_get_scheduled_actions(['hook' => 'turnpike_check_order', 'status' => 'pending', 'per_page' => 50], 'ids')),
    ],
    'refund' => function () use ($given): array {
        $refund = wc_create_refund(['order_id' => $given['id'], 'amount' => $given['amount'], 'refund_payment' => true]);
        return ['error' => is_wp_error($refund) ? $refund->get_error_message() : null];
    },
    'user' => fn (): array => ['id' => get_user_by('login', $given['login'])->ID],
    'subscription' => function () use ($given): array {
        $order = wc_get_order($given['order']);
        $subscription = wcs_create_subscription([
            'order_id' => $order->get_id(), 'customer_id' => $order->get_customer_id(), 'billing_period' => 'month', 'billing_interval' => 1,
        ]);
        foreach ($order->get_items() as $item) {
            $subscription->add_product($item->get_product(), 1);
        }
        $subscription->set_payment_method('turnpike');
        $subscription->set_requires_manual_renewal(false);
        $subscription->calculate_totals();
        $subscription->save();
        return ['id' => $subscription->get_id()];
    },
    'renew' => function () use ($given): array {
        // The core charges with the method of its vendor only; the whole extension does this for every method.
        $subscription = wcs_get_subscription($given['id']);
        $renewal = wcs_create_renewal_order($subscription);
        $renewal->set_payment_method('turnpike');
        $renewal->save();
        do_action('woocommerce_scheduled_subscription_payment_turnpike', $renewal->get_total(), $renewal);
        return ['status' => wcs_get_subscription($given['id'])->get_status(), 'renewal' => $renewal->get_id()];
    },
    'subscription-data' => function () use ($given): array {
        $subscription = wcs_get_subscription($given['id']);
        $keys = array_map(fn ($meta) => $meta->key, $subscription->get_meta_data());
        return [
            'status' => $subscription->get_status(),
            'keys' => array_values(array_filter($keys, fn ($key) => str_starts_with($key, '_turnpike'))),
        ];
    },
    'forget-token' => function () use ($given): array {
        $subscription = wcs_get_subscription($given['id']);
        $subscription->update_meta_data('_turnpike_recurring_token', str_repeat('0', 32));
        $subscription->save();
        return ['ok' => true];
    },
    'storage' => function () use ($given): array {
        wc_get_container()->get(Automattic\WooCommerce\Internal\DataStores\Orders\DataSynchronizer::class)->create_database_tables();
        // WooCommerce refuses the change in a shop with orders; here the older ones may stay where they are.
        remove_all_filters('pre_update_option');
        update_option('woocommerce_custom_orders_table_enabled', $given['is_hpos'] ? 'yes' : 'no');
        return ['ok' => true];
    },
    'text' => fn (): array => ['text' => __('The payment could not be started. Please try again.', 'turnpike-gateway')],
    'uninstall' => function (): array {
        deactivate_plugins('turnpike-gateway/turnpike-gateway.php');
        uninstall_plugin('turnpike-gateway/turnpike-gateway.php');
        return [
            'settings' => get_option('woocommerce_turnpike_settings', null),
            'checks' => count(as_get_scheduled_actions(['group' => 'turnpike', 'status' => 'pending', 'per_page' => 5], 'ids')),
        ];
    },
];
echo "\n", json_encode($steps[$step](), JSON_THROW_ON_ERROR), "\n";
