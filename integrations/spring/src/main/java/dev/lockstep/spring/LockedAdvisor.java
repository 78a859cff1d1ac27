package dev.lockstep.spring;

import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.transaction.interceptor.BeanFactoryTransactionAttributeSourceAdvisor;

/**
 * Puts the lock around the methods of beans: inside of method security, so that nobody takes a lock for a call that is refused,
 * and outside of transactions, whatever order they are configured with.
 */
final class LockedAdvisor implements PointcutAdvisor, Ordered {
    private static final int USUAL_ORDER = LOWEST_PRECEDENCE - 1_000;
    private final ConfigurableListableBeanFactory beans;
    private final LockedMethods methods;
    private final LockedInterceptor interceptor;

    LockedAdvisor(ConfigurableListableBeanFactory beans, LockedMethods methods, LockedInterceptor interceptor) {
        this.beans = beans;
        this.methods = methods;
        this.interceptor = interceptor;
    }

    @Override
    public int getOrder() {
        return Transactions.PRESENT ? Math.min(USUAL_ORDER, Spring.beforeTransactions(beans)) : USUAL_ORDER;
    }

    @Override
    public Pointcut getPointcut() {
        return methods;
    }

    @Override
    public Advice getAdvice() {
        return interceptor;
    }

    /** The part that needs spring-tx. */
    private static final class Spring {
        static int beforeTransactions(ConfigurableListableBeanFactory beans) {
            int first = LOWEST_PRECEDENCE;
            for (BeanFactoryTransactionAttributeSourceAdvisor transactions : beans.getBeansOfType(
                            BeanFactoryTransactionAttributeSourceAdvisor.class, false, false)
                    .values()) {
                first = Math.min(first, transactions.getOrder());
            }
            if (first == HIGHEST_PRECEDENCE) {
                throw new IllegalStateException(
                        "Transactions have the highest precedence, so a @Locked method would acquire"
                                + " its lock inside of its transaction, and release it before the commit. Give"
                                + " @EnableTransactionManagement an order above Ordered.HIGHEST_PRECEDENCE.");
            }
            return first - 1;
        }
    }
}
