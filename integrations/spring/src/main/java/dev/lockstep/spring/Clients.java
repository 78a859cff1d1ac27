package dev.lockstep.spring;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import java.util.List;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** The lock clients of a context. */
final class Clients {
    private Clients() {}

    /** The client of a bean name or qualifier, or the only or primary one if that is empty. */
    static LockClient find(ConfigurableListableBeanFactory beans, String qualifier, String place) {
        try {
            return qualifier.isEmpty()
                    ? beans.getBean(LockClient.class)
                    : BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, LockClient.class, qualifier);
        } catch (NoUniqueBeanDefinitionException e) {
            throw new LockConfigurationException(
                    null,
                    place + ": there are several lock clients (" + names(beans)
                            + "). Name one with client = \"…\", or make" + " one of them @Primary.",
                    e);
        } catch (NoSuchBeanDefinitionException e) {
            throw new LockConfigurationException(
                    null,
                    place + ": there is no lock client" + (qualifier.isEmpty() ? "" : " '" + qualifier + "'")
                            + ". Beans of type LockClient: " + names(beans) + ".",
                    e);
        }
    }

    /** The beans that a qualifier may mean; all clients if it is empty. */
    static List<String> beanNames(ConfigurableListableBeanFactory beans, String qualifier) {
        List<String> all = List.of(beans.getBeanNamesForType(LockClient.class, true, false));
        return all.contains(qualifier) ? List.of(qualifier) : all;
    }

    /** Makes sure that a bean name or qualifier means a client, without making the client. */
    static void require(ConfigurableListableBeanFactory beans, String qualifier, String place) {
        if (qualifier.isEmpty() || isClient(beans, qualifier)) {
            return;
        }
        for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, LockClient.class, true, false)) {
            if (BeanFactoryAnnotationUtils.isQualifierMatch(qualifier::equals, name, beans)) {
                return;
            }
        }
        throw new IllegalStateException(place + ": there is no lock client '" + qualifier
                + "'. Beans of type LockClient: " + names(beans) + ".");
    }

    private static boolean isClient(ConfigurableListableBeanFactory beans, String name) {
        return beans.containsBean(name) && beans.isTypeMatch(name, LockClient.class);
    }

    private static String names(ConfigurableListableBeanFactory beans) {
        List<String> names = beanNames(beans, "");
        return names.isEmpty() ? "none" : String.join(", ", names);
    }
}
