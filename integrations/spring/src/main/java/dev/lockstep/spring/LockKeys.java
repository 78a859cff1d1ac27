package dev.lockstep.spring;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.annotation.Locked;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ObjectUtils;

/** The names of the locks of a method's calls. Immutable, safe for use by many threads. */
final class LockKeys {
    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static final ParameterNameDiscoverer PARAMETERS = new DefaultParameterNameDiscoverer();

    private final Method method;
    private final String name;
    private final List<SpelExpression> expressions = new ArrayList<>();
    private final BeanFactoryResolver beans;
    private final boolean shared;

    LockKeys(Locked locked, Method method, ConfigurableListableBeanFactory factory, Placeholders placeholders) {
        this.method = method;
        this.beans = new BeanFactoryResolver(factory);
        this.shared = locked.mode() == Locked.Mode.READ;
        this.name = placeholders.isLater(locked.name())
                ? locked.name()
                : requireName(placeholders.resolve(method, "name", locked.name()));
        for (String key : locked.key()) {
            if (!placeholders.isLater(key)) {
                expressions.add(parse(placeholders.resolve(method, "key", key)));
            }
        }
        if (shared && locked.key().length > 1) {
            throw LockedMethod.mistake(method, "several keys can only be locked together with mode = WRITE");
        }
    }

    private String requireName(String resolved) {
        if (resolved.isBlank() || resolved.contains("${")) {
            throw LockedMethod.mistake(
                    method,
                    resolved.isBlank()
                            ? "the name is empty"
                            : "a placeholder of the name '" + resolved + "' has no value");
        }
        return resolved;
    }

    private SpelExpression parse(String key) {
        SpelExpression expression;
        try {
            expression = PARSER.parseRaw(key);
        } catch (ParseException e) {
            throw LockedMethod.mistake(
                    method, "the key '" + key + "' is not a valid expression: " + e.getSimpleMessage());
        }
        requireKnownVariables(key, expression.getAST());
        return expression;
    }

    /** A wrong name of a parameter would be a null at the first call. */
    private void requireKnownVariables(String key, SpelNode node) {
        if (node instanceof VariableReference variable) {
            String wanted = variable.toStringAST().substring(1);
            Set<String> known = variables();
            if (!known.contains(wanted)) {
                throw LockedMethod.mistake(
                        method,
                        "the key '" + key + "' uses #" + wanted + ", but known are " + known
                                + (PARAMETERS.getParameterNames(method) == null
                                        ? ". Compile with -parameters to use the names of parameters"
                                        : ""));
            }
        }
        for (int child = 0; child < node.getChildCount(); child++) {
            requireKnownVariables(key, node.getChild(child));
        }
    }

    private Set<String> variables() {
        Set<String> known = new LinkedHashSet<>();
        String[] names = PARAMETERS.getParameterNames(method);
        for (int index = 0; index < method.getParameterCount(); index++) {
            if (names != null && index < names.length) { // the last parameter of a suspend function has none
                known.add(names[index]);
            }
            known.add("a" + index);
            known.add("p" + index);
        }
        known.addAll(List.of("root", "this"));
        return known;
    }

    /** The constant part of the names. */
    String name() {
        return name;
    }

    /** The locks of a call; at least one, none twice. */
    List<String> names(Object target, @Nullable Object[] arguments) {
        if (expressions.isEmpty()) {
            return List.of(name);
        }
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(target, method, arguments, PARAMETERS);
        context.setBeanResolver(beans);
        if (expressions.size() == 1) {
            Object value = value(expressions.get(0), context);
            if (!(value instanceof Collection) && !value.getClass().isArray()) {
                return List.of(name(expressions.get(0), value));
            }
        }
        Set<String> names = new LinkedHashSet<>();
        for (SpelExpression expression : expressions) {
            add(names, expression, value(expression, context));
        }
        if (names.isEmpty()) {
            throw unusable(expressions.get(0), "is empty");
        }
        if (shared && names.size() > 1) {
            throw unusable(expressions.get(0), "has several values; with mode = READ there can be only one");
        }
        return List.copyOf(names);
    }

    private Object value(SpelExpression expression, MethodBasedEvaluationContext context) {
        Object value;
        try {
            value = expression.getValue(context);
        } catch (EvaluationException e) {
            throw new LockConfigurationException(
                    name,
                    "@Locked on " + LockedMethod.describe(method) + ": the key '" + expression.getExpressionString()
                            + "' has no value: " + e.getSimpleMessage() + ". The method did not run.",
                    e);
        }
        if (value == null) {
            throw unusable(expression, "is null");
        }
        return value;
    }

    private void add(Set<String> names, SpelExpression expression, Object value) {
        if (value instanceof Collection<?> several) {
            several.forEach(one -> names.add(name(expression, one)));
        } else if (value.getClass().isArray()) {
            for (Object one : ObjectUtils.toObjectArray(value)) {
                names.add(name(expression, one));
            }
        } else {
            names.add(name(expression, value));
        }
    }

    private String name(SpelExpression expression, @Nullable Object value) {
        if (value == null) {
            throw unusable(expression, "is null");
        }
        String text = value.toString();
        if (text.isEmpty()) {
            throw unusable(expression, "is empty");
        }
        if (isOfObject(text, value)) {
            throw unusable(
                    expression,
                    "has no text that is the same in every process, since "
                            + value.getClass().getTypeName() + " has no toString(); use a property, as in #order.id");
        }
        return name + ":" + text;
    }

    /** Whether it is the text of {@link Object#toString()}. */
    private static boolean isOfObject(String text, Object value) {
        String type = value.getClass().getName();
        return text.length() > type.length()
                && text.charAt(type.length()) == '@'
                && text.equals(type + "@" + Integer.toHexString(value.hashCode()));
    }

    private LockConfigurationException unusable(SpelExpression expression, String why) {
        return new LockConfigurationException(
                name,
                "@Locked on " + LockedMethod.describe(method) + ": the key '" + expression.getExpressionString() + "' "
                        + why + ". The method did not run.");
    }
}
